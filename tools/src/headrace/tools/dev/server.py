"""What the local servers have in common: a folder, a port, a pid file, and an orderly life."""

import os
import secrets
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.ports import LOOPBACK, claimed_port
from headrace.tools.dev.privileges import Identity, server_identity
from headrace.tools.dev.processes import PID_FILE, Launch, PidRecord, ProcessMark, is_running, log_tail, stop
from headrace.tools.dev.state import PASSABLE
from headrace.tools.dev.waiting import holds_within

# A free port can be taken between finding and using it; another one is tried then.
PORT_ATTEMPTS = 5
PROCESS_ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


class LocalServer(ABC):
    """A server on 127.0.0.1 that this package started, or one of an earlier command that it recognised.

    Calls are synchronous and bounded in time; from a coroutine use `asyncio.to_thread`. One object belongs to one
    thread at a time.

    Attributes:
        directory: Holds the server's data, its password, its log `server.log` and its pid file `server.pid`.
        host: Where it listens; always the loopback interface.
    """

    name: ClassVar[str]
    stop_signals: ClassVar[Sequence[signal.Signals]]
    kill_signals: ClassVar[Sequence[signal.Signals]]

    host = LOOPBACK

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        is_persistent: bool = False,
        start_timeout: timedelta = timedelta(seconds=60),
        stop_timeout: timedelta = timedelta(seconds=15),
    ) -> None:
        self.directory = directory.resolve()
        self.identity: Identity = server_identity()
        self._requested_port = port
        self._port: int | None = None
        self._process: ProcessMark | None = None
        self._is_persistent = is_persistent
        self._is_adopted = False
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout

    @property
    def port(self) -> int:
        """The port that the server listens on; it stays the same over stop and start of one object.

        Raises:
            DevServerError: The server was never started.
        """
        if self._port is None:
            raise DevServerError(f"{self.name} was not started yet, so it has no port.")
        return self._port

    @property
    def password(self) -> str:
        """The server's random password, made once and kept readable for its owner only."""
        file = self.directory / "password"
        if not file.exists():
            draft = self.directory / f"password.{os.getpid()}"
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(24), encoding="ascii")
            draft.replace(file)
        return file.read_text(encoding="ascii")

    @property
    def is_running(self) -> bool:
        """Whether the server's process runs now."""
        return self._process is not None and is_running(self._process)

    @abstractmethod
    def describe(self) -> str:
        """Returns what runs here, in a few words without secrets."""
        ...

    @abstractmethod
    def prepare(self) -> None:
        """Makes what the server needs before its first start; does nothing when it is there already."""
        ...

    @abstractmethod
    def launch(self, port: int) -> Launch:
        """Returns how to start the server on a port."""
        ...

    @abstractmethod
    def answers(self) -> bool:
        """Tells whether the server answers a real request of a signed-in client; takes a second at most."""
        ...

    def start(self) -> Self:
        """Starts the server and waits until it answers; does nothing when it runs already.

        A server that an earlier command left behind is recognised by its pid file: one that was meant to stay is
        used, one whose command is gone is stopped first.

        Returns:
            This object.

        Raises:
            DevServerError: A running command uses this folder, the requested port is busy, or the server ended or
                did not answer in time. It does not run then.
        """
        if self.is_running:
            return self
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(PASSABLE)
        if not self._adopt_earlier():
            self.prepare()
            self._start_process()
        return self

    def stop(self) -> None:
        """Stops the server in order, letting nothing get lost; safe when it is stopped already."""
        self._end(self.stop_signals)

    def kill(self) -> None:
        """Ends the server at once, as a crash would: clients lose their connections, a next start recovers."""
        self._end(self.kill_signals)

    def restart(self) -> None:
        """Stops the server and starts it on the same port with the same data."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._is_adopted:
            self.stop()

    @property
    def log(self) -> Path:
        """The file that takes the server's output."""
        return self.directory / "server.log"

    @property
    def pid_file(self) -> Path:
        """The file that says which process this is and who stops it."""
        return self.directory / PID_FILE

    def _adopt_earlier(self) -> bool:
        record = PidRecord.read(self.pid_file)
        if record is None:
            return False
        if record.owner is not None and record.owner.is_alive() and record.owner.pid != os.getpid():
            raise DevServerError(
                f"{self.name} of this folder is in use by process {record.owner.pid}; stop that one first."
            )
        self._process = record.server
        self._port = record.port
        if record.owner is None and self._requested_port in {None, record.port} and self.answers():
            self._is_adopted = True
            return True
        self.stop()
        self._port = None
        return False

    def _start_process(self) -> None:
        fixed = self._port or self._requested_port
        for _ in range(PORT_ATTEMPTS):
            port = claimed_port(fixed, server=self.name)
            log_size = self.log.stat().st_size if self.log.exists() else 0
            if self._try(port):
                return
            if fixed is not None or not self._lost_port(log_size):
                break
        self._port = fixed
        raise DevServerError(f"{self.name} did not start; its log {self.log} ends: {log_tail(self.log)}")

    def _try(self, port: int) -> bool:
        process = self.launch(port).start()
        self._process, self._port = process, port
        owner = None if self._is_persistent else ProcessMark.of(os.getpid())
        PidRecord(server=process, owner=owner, port=port).write(self.pid_file)
        try:
            holds_within(lambda: not is_running(process) or self.answers(), self._start_timeout)
            started = is_running(process) and self.answers()
        except BaseException:  # Ctrl-C too must leave nothing behind
            self.kill()
            raise
        if not started:
            self.kill()
        return started

    def _lost_port(self, log_size: int) -> bool:
        with self.log.open("rb") as log:
            log.seek(log_size)
            return b"in use" in log.read()

    def _end(self, signals: Sequence[signal.Signals]) -> None:
        if self._process is None:
            return
        stop(self._process, signals=signals, patience=self._stop_timeout)
        self._process = None
        self.pid_file.unlink(missing_ok=True)
