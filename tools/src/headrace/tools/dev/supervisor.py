"""Processes under one supervisor: started, watched, started again, and stopped in order.

Each runs in a session of its own, so that Ctrl-C at the terminal reaches the supervisor alone; each is written down in
a pid file, so that the next command recognises what a killed one left behind.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx

from headrace.tools.dev.causes import cause_of
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.ports import LOOPBACK, claimed_port
from headrace.tools.dev.processes import PidRecord, ProcessMark, log_tail, stop

FIRST_PAUSE: Final = timedelta(milliseconds=500)
LONGEST_PAUSE: Final = timedelta(seconds=10)
SETTLED_AFTER: Final = timedelta(seconds=30)
"""A process that ran this long starts with the first pause again."""

MAX_FAILED_STARTS: Final = 3
STOP_PATIENCE: Final = timedelta(seconds=30)
READY_POLL: Final = timedelta(milliseconds=50)


@dataclass(frozen=True, slots=True)
class Program:
    """A process to keep running.

    Attributes:
        name: What people call it.
        argv: Program and arguments.
        environment: Its whole environment but its port.
        port_variable: The environment variable that tells it where to serve `/readyz`.
        port: Where; a free port, chosen anew at each start, when None.
        folder: Where it stands while it runs.
    """

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    port_variable: str
    folder: Path
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Places:
    """Where the supervisor keeps its files: one log and one pid file for each program."""

    logs: Path
    pids: Path

    def log(self, name: str) -> Path:
        """Returns the log of a program."""
        return self.logs / f"{name}.log"

    def pid_file(self, name: str) -> Path:
        """Returns the pid file of a program."""
        return self.pids / f"{name}.pid"


class Supervised:
    """One program and the process that runs it now.

    Args:
        program: What to run.
        places: Where its log and pid file go.
        tell: Says to the person at the terminal what happened to it.
    """

    def __init__(self, program: Program, places: Places, tell: Callable[[str], None]) -> None:
        self.program = program
        self.log = places.log(program.name)
        self._pid_file = places.pid_file(program.name)
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._port = 0
        self._was_ready = False
        self._stopping = asyncio.Event()

    @property
    def url(self) -> str:
        """Where it serves now."""
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def pid(self) -> int | None:
        """The process that runs it now; None between two of them."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def keep(self) -> None:
        """Run the program, again and again, until it is asked to stop; a process that ends too soon waits longer.

        Raises:
            DevServerError: It cannot be executed, its port is busy, or it ended several times before it was ready.
        """
        pause, num_failed = FIRST_PAUSE, 0
        while not self._stopping.is_set():
            began = time.monotonic()
            process = await self._start()
            code = await process.wait()
            self._pid_file.unlink(missing_ok=True)
            if self._stopping.is_set():
                return
            num_failed += not self._was_ready
            if num_failed >= MAX_FAILED_STARTS:
                raise DevServerError(
                    f"{self.program.name} does not start; its log {self.log} ends: {_last_line(self.log)}"
                )
            pause = FIRST_PAUSE if time.monotonic() - began > SETTLED_AFTER.total_seconds() else pause
            self._tell(f"{self.program.name} ended with {code}; it starts again in {pause.total_seconds():g} s")
            await _event_within(self._stopping, pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def ready(self) -> None:
        """Return once the program says that it is ready; the caller bounds the time."""
        async with httpx.AsyncClient(timeout=2, trust_env=False) as client:
            while not await self._is_ready(client):  # noqa: ASYNC110 - another process cannot set an event
                await asyncio.sleep(READY_POLL.total_seconds())
        self._was_ready = True

    async def stop(self, hurry: asyncio.Event) -> None:
        """Ask the process to stop, and end it when it takes too long or `hurry` is set; it stays stopped."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        ended = asyncio.ensure_future(process.wait())
        hurried = asyncio.ensure_future(hurry.wait())
        await asyncio.wait({ended, hurried}, timeout=STOP_PATIENCE.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        if not ended.done():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await ended

    async def _start(self) -> asyncio.subprocess.Process:
        program = self.program
        self._port = claimed_port(program.port, server=program.name)
        with self.log.open("ab") as log:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *program.argv,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=asyncio.subprocess.STDOUT,
                    env={**program.environment, program.port_variable: str(self._port)},
                    cwd=program.folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise DevServerError(f"{program.argv[0]} cannot be executed: {error.strerror}.") from error
        self._write_down(self._process.pid)
        return self._process

    def _write_down(self, pid: int) -> None:
        mark = ProcessMark.of(pid) or ProcessMark(pid=pid, started="ended")
        PidRecord(server=mark, owner=ProcessMark.of(os.getpid()), port=self._port).write(self._pid_file)

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        if self._port == 0 or self.pid is None:
            return False
        try:
            return (await client.get(f"{self.url}/readyz")).is_success
        except httpx.TransportError:
            return False


class Supervisor:
    """The programs that run together."""

    def __init__(self, programs: Sequence[Program], places: Places, tell: Callable[[str], None]) -> None:
        self.supervised = tuple(Supervised(program, places, tell) for program in programs)
        self._hurry = asyncio.Event()
        self._is_stopping = False

    @property
    def is_stopping(self) -> bool:
        """Whether the programs are being stopped."""
        return self._is_stopping

    async def ready(self, patience: timedelta) -> None:
        """Return once all are ready.

        Raises:
            DevServerError: One is not, in the time given.
        """
        for each in self.supervised:
            try:
                async with asyncio.timeout(patience.total_seconds()):
                    await each.ready()
            except TimeoutError:
                said = _last_line(each.log)
                raise DevServerError(
                    f"{each.program.name} is not ready in time; its log {each.log} ends: {said}"
                ) from None

    def hurry(self) -> None:
        """End what is being stopped without waiting any longer."""
        self._hurry.set()

    async def stop(self) -> None:
        """Stop them, the last started first, each before the next."""
        self._is_stopping = True
        for each in reversed(self.supervised):
            await each.stop(self._hurry)


@asynccontextmanager
async def supervising(
    programs: Sequence[Program], places: Places, tell: Callable[[str], None]
) -> AsyncIterator[Supervisor]:
    """Keep the programs running around the body, and stop them on leaving.

    Raises:
        DevServerError: One cannot be kept running; the body was cancelled and the others are stopped.
    """
    for folder in (places.logs, places.pids):
        folder.mkdir(parents=True, exist_ok=True)
    supervisor = Supervisor(programs, places, tell)
    try:
        async with asyncio.TaskGroup() as group:
            try:
                for each in supervisor.supervised:
                    each.log.write_bytes(b"")
                    group.create_task(each.keep())
                yield supervisor
            finally:
                await supervisor.stop()
    except BaseExceptionGroup as error:
        raise cause_of(error) from error


def end_stale(places: Places) -> list[str]:
    """End the processes that a killed command left behind; returns the programs' names.

    Raises:
        DevServerError: A running command still keeps them running, or one did not end.
    """
    ended = []
    for pid_file in sorted(places.pids.glob("*.pid")):
        record = PidRecord.read(pid_file)
        if record is not None:
            if not record.is_orphan():
                owner = "another command" if record.owner is None else f"process {record.owner.pid}"
                raise DevServerError(
                    f"The worker {pid_file.stem} of this working tree runs under {owner}; stop that first."
                )
            stop(record.server, signals=(signal.SIGTERM, signal.SIGKILL), patience=STOP_PATIENCE)
            ended.append(pid_file.stem)
        pid_file.unlink(missing_ok=True)
    return ended


def _last_line(path: Path) -> str:
    """Returns the last line of a log that says something, for an error sentence."""
    return log_tail(path).rpartition(" | ")[2]


async def _event_within(event: asyncio.Event, patience: timedelta) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(patience.total_seconds()):
            await event.wait()
