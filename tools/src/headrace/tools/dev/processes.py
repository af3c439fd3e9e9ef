"""Server processes on this machine: started apart from the terminal, recognised later by pid and start time."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.privileges import Identity
from headrace.tools.dev.waiting import holds_within

PID_FILE = "server.pid"
LOG_TAIL_LINES = 5


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """A process told apart from a later one with the same pid.

    Attributes:
        pid: The process id.
        started: When the kernel says that it started; opaque, only ever compared for equality.
    """

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Returns the mark of a live process, or None when there is no such process (a zombie counts as none)."""
        started = _started(pid)
        return None if started is None else cls(pid=pid, started=started)

    def is_alive(self) -> bool:
        """Tells whether this very process still runs."""
        return _started(self.pid) == self.started


def _started(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        return _started_from_proc(pid)
    return _started_from_ps(pid)


def _started_from_proc(pid: int) -> str | None:
    """Reads state and start time from /proc.

    Source: proc(5); after the last closing parenthesis the third field is the state and the 22nd the start in ticks.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else f"{_boot_id()}:{fields[19]}"


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _started_from_ps(pid: int) -> str | None:
    """Asks ps where there is no /proc (macOS)."""
    argv = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    listed = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 - fixed argv
    state, _, started = listed.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else started.strip()


@dataclass(frozen=True, slots=True)
class PidRecord:
    """What a pid file says.

    Attributes:
        server: The server process.
        owner: The process that stops it, or None for a server that outlives the command which started it.
        port: Where it listens.
    """

    server: ProcessMark
    owner: ProcessMark | None
    port: int

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Returns what a pid file says, whether the server runs or not; None for one that cannot be understood."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            owner = raw["owner"]
            return cls(
                server=ProcessMark(**raw["server"]),
                owner=None if owner is None else ProcessMark(**owner),
                port=int(raw["port"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Returns the record of a server that still runs, or None."""
        record = cls.load(path)
        return record if record is not None and record.server.is_alive() else None

    def write(self, path: Path) -> None:
        """Replaces the pid file in one step."""
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        draft.replace(path)

    def is_orphan(self) -> bool:
        """Tells whether the process that should stop this server is gone."""
        return self.owner is not None and not self.owner.is_alive()


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a server process.

    Attributes:
        argv: Program and arguments.
        identity: Whom it runs as.
        log: File that takes its output, appended to.
        stdin: What it reads from standard input.
        environment: Its whole environment.
    """

    argv: Sequence[str | Path]
    identity: Identity
    log: Path
    environment: Mapping[str, str]
    stdin: str = ""

    def start(self) -> ProcessMark:
        """Starts the process in a session of its own, so that Ctrl-C at the terminal does not reach it.

        Raises:
            DevServerError: The program cannot be executed, or it ended at once.
        """
        with self.log.open("ab") as log:
            try:
                process = subprocess.Popen(  # noqa: S603 - the binary was found by this package
                    self.argv,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(self.environment),
                    cwd="/",
                    start_new_session=True,
                    **self.identity.popen_arguments(),
                )
            except OSError as error:
                raise DevServerError(f"{self.argv[0]} cannot be executed: {error.strerror}.") from error
        _feed(process, self.stdin)
        _children[process.pid] = process
        return ProcessMark.of(process.pid) or ProcessMark(pid=process.pid, started="ended")


# Children must be waited for by the process that started them; otherwise they stay zombies.
_children: dict[int, subprocess.Popen[bytes]] = {}


def _feed(process: subprocess.Popen[bytes], text: str) -> None:
    if process.stdin is None:
        return
    with suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(text.encode())


def is_running(mark: ProcessMark) -> bool:
    """Tells whether the process runs, collecting its exit status when it is a child that has ended."""
    child = _children.get(mark.pid)
    if child is not None and child.poll() is not None:
        del _children[mark.pid]
        return False
    return mark.is_alive()


def send(mark: ProcessMark, number: signal.Signals) -> None:
    """Sends a signal to this very process; does nothing when it is gone."""
    if is_running(mark):
        with suppress(ProcessLookupError):
            os.kill(mark.pid, number)


def stop(mark: ProcessMark, *, signals: Sequence[signal.Signals], patience: timedelta) -> None:
    """Ends a process with the given signals in turn, waiting after each; safe when it is gone already.

    Args:
        mark: The process; one that merely has the same pid is never touched.
        signals: From the kindest to the hardest.
        patience: How long to wait after each of them.

    Raises:
        DevServerError: The process survived every signal.
    """
    for number in signals:
        send(mark, number)
        if holds_within(lambda: not is_running(mark), patience):
            return
    raise DevServerError(f"Process {mark.pid} did not end after {signals[-1].name}; end it by hand.")


def log_tail(path: Path) -> str:
    """Returns the last lines of a server's log on one line, for an error sentence."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "no log was written"
    return " | ".join(line.strip() for line in lines[-LOG_TAIL_LINES:] if line.strip()) or "its log is empty"
