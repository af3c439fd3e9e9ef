"""A PostgreSQL server of our own, on the loopback interface only."""

import asyncio
import shutil
import signal
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, override
from urllib.parse import quote

import asyncpg

from headrace.tools.dev.binaries import PostgresBinaries, find_postgres, reachable_postgres
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.processes import Launch
from headrace.tools.dev.server import PROCESS_ENVIRONMENT, LocalServer

SUPERUSER = "postgres"
PROBE_TIMEOUT = timedelta(seconds=1)
INITDB_TIMEOUT = timedelta(seconds=120)
# For servers whose data nobody will miss.
UNSAFE_BUT_FAST: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresServer(LocalServer):
    """A PostgreSQL server with a password-protected superuser and no Unix socket.

    The data survives stop and start. As root the server runs as an unprivileged account.

    Args:
        directory: Where its state goes; made when missing. Every folder above must let the server's account pass.
        port: Where to listen; a free port when None.
        settings: Configuration parameters by name, as `postgresql.conf` would have them.
        binaries: Its programs; the first that is found when None.
        is_persistent: Whether it is meant to outlive the process that starts it.

    Raises:
        DevServerError: There are no programs.
    """

    name: ClassVar[str] = "PostgreSQL"
    # Fast shutdown ends sessions in order, immediate shutdown leaves recovery to the next start.
    stop_signals: ClassVar[Sequence[signal.Signals]] = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
    kill_signals: ClassVar[Sequence[signal.Signals]] = (signal.SIGQUIT, signal.SIGKILL)

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        binaries: PostgresBinaries | None = None,
        is_persistent: bool = False,
    ) -> None:
        super().__init__(directory, port=port, is_persistent=is_persistent)
        self.binaries = binaries or find_postgres()
        self._settings = dict(settings or {})

    @property
    def data(self) -> Path:
        """The data folder; one per major version, since a server reads no other's."""
        return self.directory / f"data-{self.binaries.major}"

    def dsn(self, database: str = "postgres", *, user: str = SUPERUSER, password: str | None = None) -> str:
        """Returns a URL `postgresql://user:password@host:port/database`; the superuser's unless told otherwise."""
        secret = self.password if password is None else password
        return f"postgresql://{quote(user)}:{quote(secret)}@{self.host}:{self.port}/{quote(database)}"

    def create_database(self, name: str) -> str:
        """Creates an empty database and returns the superuser's URL of it."""
        quoted = name.replace('"', '""')
        self.execute(f'CREATE DATABASE "{quoted}"')
        return self.dsn(name)

    def execute(self, statement: str, *, database: str = "postgres") -> None:
        """Runs statements as the superuser, each committed on its own; takes 60 seconds at most."""
        dsn = self.dsn(database)
        run_apart(lambda: _execute(dsn, statement))

    @override
    def describe(self) -> str:
        return f"PostgreSQL {self.binaries.major} ({self.binaries.source}) on {self.host}:{self.port}"

    @override
    def prepare(self) -> None:
        if self.data.exists():
            return
        draft = self.data.with_name(f"{self.data.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        self.identity.own(draft)
        self._initialise(draft)
        draft.rename(self.data)

    @override
    def launch(self, port: int) -> Launch:
        settings = {"listen_addresses": self.host, "port": str(port), "unix_socket_directories": "", **self._settings}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return Launch(
            argv=[self._programs() / "postgres", "-D", self.data, *options],
            identity=self.identity,
            log=self.log,
            environment=PROCESS_ENVIRONMENT,
        )

    @override
    def answers(self) -> bool:
        dsn = self.dsn()
        return run_apart(lambda: _answers(dsn))

    def _programs(self) -> Path:
        return reachable_postgres(self.binaries, self.identity, self.directory.parent / "programs")

    def _initialise(self, data: Path) -> None:
        # The account must read the password once; the file that stays is out of its reach.
        secret = data.with_name("initial-password")
        secret.touch(mode=0o600)
        secret.write_text(self.password, encoding="ascii")
        self.identity.own(secret)
        argv: list[str | Path] = [
            *(self._programs() / "initdb", "-D", data, "-U", SUPERUSER, f"--pwfile={secret}"),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"),
        ]
        try:
            self._run(argv)
        finally:
            secret.unlink()

    def _run(self, argv: list[str | Path]) -> None:
        try:
            done = subprocess.run(  # noqa: S603 - the binary was found by this package
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=INITDB_TIMEOUT.total_seconds(),
                env=dict(PROCESS_ENVIRONMENT),
                cwd="/",
                **self.identity.popen_arguments(),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DevServerError(f"PostgreSQL's data folder could not be made: {error}.") from error
        if done.returncode:
            said = " | ".join(done.stderr.strip().splitlines()[-3:])
            raise DevServerError(f"PostgreSQL's data folder could not be made: {said}")


def run_apart[T](call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end in a thread of its own, so that it works below a running event loop too."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(call())).result()


async def _answers(dsn: str) -> bool:
    try:
        async with asyncio.timeout(PROBE_TIMEOUT.total_seconds()):
            connection = await asyncpg.connect(dsn)
            try:
                return bool(await connection.fetchval("SELECT 1") == 1)
            finally:
                connection.terminate()
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False


async def _execute(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=60)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
