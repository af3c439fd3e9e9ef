"""Programs under test as processes: started, listened to, ended; ours and the peers' alike."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.marks import Mark
from headrace.tools.bench.queue import LANE
from headrace.tools.bench.waiting import until

END_SECONDS: Final = 30
TAIL_LINES: Final = 8
TICK_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True)
class Program:
    """How a program under test is started.

    Attributes:
        name: For sentences.
        argv: Program and arguments.
        environment: On top of this process's own.
        ready_file: The file that is there once the program is ready; None where it has no such thing.
    """

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    ready_file: Path | None = None


@dataclass(slots=True)
class Running:
    """A program that runs, and the marks that it has written so far."""

    program: Program
    process: Process
    log: Path
    started_ns: int
    marks: list[Mark] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def num_items(self) -> int:
        """What its last mark says."""
        return self.marks[-1].num_items if self.marks else 0

    async def listen(self) -> None:
        """Read marks until the program closes its output."""
        if self.process.stdout is None:
            raise BenchError(f"The output of {self.program.name} is not read.")
        while line := await self.process.stdout.readline():
            self.marks.append(Mark.read(line.decode()))

    def check(self) -> None:
        """Return while the program runs.

        Raises:
            BenchError: It has ended; the sentence has the end of its log.
        """
        if self.process.returncode is not None:
            raise BenchError(f"{self.program.name} ended by itself: {self.tail()}")

    def tail(self) -> str:
        """Return the end of what the program logged, on one line."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return " | ".join(lines[-TAIL_LINES:]) or "it logged nothing"


@asynccontextmanager
async def running(programs: Sequence[Program], folder: Path) -> AsyncIterator[tuple[Running, ...]]:
    """Start programs and listen to them; end them by SIGTERM when the block is left.

    Raises:
        BenchError: One wrote what is no mark, or did not end within half a minute.
    """
    started: list[Running] = []
    listening: list[asyncio.Task[None]] = []
    try:
        for program in programs:
            started.append(await _start(program, folder))
            listening.append(asyncio.create_task(started[-1].listen()))
        yield tuple(started)
    finally:
        # Their output ends with them, so that each listening task ends by itself.
        await asyncio.gather(*(_end(each) for each in started))
        await asyncio.gather(*listening)


async def _start(program: Program, folder: Path) -> Running:
    log = folder / f"{program.name}-{time.monotonic_ns()}.log"
    started_ns = time.time_ns()
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *program.argv,
            env=os.environ | program.environment,
            stdout=PIPE,
            stderr=output,
            stdin=asyncio.subprocess.DEVNULL,
        )
    return Running(program, process, log, started_ns)


async def _end(each: Running) -> None:
    with contextlib.suppress(ProcessLookupError):
        each.process.terminate()
    try:
        await asyncio.wait_for(each.process.wait(), END_SECONDS)
    except TimeoutError:
        each.process.kill()
        raise BenchError(f"{each.program.name} did not end within {END_SECONDS} s of SIGTERM.") from None


@contextmanager
def paused(programs: Sequence[Running]) -> Iterator[None]:
    """Stop programs where they are, without their noticing, and let them go on at the end: all at once."""
    for each in programs:
        each.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for each in programs:
            if each.process.returncode is None:
                each.process.send_signal(signal.SIGCONT)


async def wait_entered(programs: Sequence[Running], num_items: int, seconds: float) -> None:
    """Return when the programs' marks add up to so many items.

    Raises:
        BenchError: A program ended, or the time was up.
    """

    async def is_reached() -> bool:
        for each in programs:
            each.check()
        return sum(each.num_items for each in programs) >= num_items

    if not await until(is_reached, seconds, every=TICK_SECONDS):
        told = "; ".join(f"{each.program.name} entered {each.num_items}: {each.tail()}" for each in programs)
        raise BenchError(f"Only some of {num_items} items were entered in {seconds:g} s. {told}")


async def wait_ready(programs: Sequence[Running], seconds: float = END_SECONDS) -> tuple[float, ...]:
    """Wait for each program's ready file; return how long each took from its start, in seconds.

    Raises:
        BenchError: A program ended, has no such file, or was not ready in time.
    """
    return tuple(await asyncio.gather(*(_ready(each, seconds) for each in programs)))


async def _ready(each: Running, seconds: float) -> float:
    file = each.program.ready_file
    if file is None:
        raise BenchError(f"{each.program.name} has no file that says when it is ready.")

    async def is_ready() -> bool:
        each.check()
        return file.exists()

    if not await until(is_ready, seconds, every=0.002):
        raise BenchError(f"{each.program.name} was not ready in {seconds:g} s: {each.tail()}")
    return (time.time_ns() - each.started_ns) / 1e9


def worker_program(
    environment: Mapping[str, str], folder: Path, *, capacity: int, mark_every: int, number: int = 0
) -> Program:
    """Return how to start our worker.

    Args:
        environment: What leads it to the database; may hold any other setting.
        folder: Where its ready file goes.
        capacity: Items that run at once.
        mark_every: After how many items it writes a mark.
        number: Tells several workers apart.
    """
    ready = folder / f"ready-{number}-{time.monotonic_ns()}"
    own = {
        "HEADRACE_SERVICE": "bench",
        "HEADRACE_BENCH_LANE": LANE,
        "HEADRACE_BENCH_CAPACITY": str(capacity),
        "HEADRACE_BENCH_MARK_EVERY": str(mark_every),
        "HEADRACE_DATABASE_POOL_SIZE": str(max(capacity, 10)),
        "HEADRACE_METRICS_PORT": "0",
        "HEADRACE_READINESS_FILE": str(ready),
        "HEADRACE_HEARTBEAT_FILE": f"{ready}.beat",
    }
    argv = (sys.executable, "-m", "headrace.tools.bench.worker", "serve")
    return Program(f"headrace-{number}", argv, {**own, **environment, "HEADRACE_SERVICE": "bench"}, ready)
