"""The scenario's machine as processes of this one: servers, workers, the receiver and the command line."""

import http.client
import json
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, override

import asyncpg

from headrace.om.storage.roles import Login
from headrace.tools.dev import LoginUrls, PostgresServer, RedisServer
from headrace.tools.dev.ports import LOOPBACK, free_port
from headrace.tools.dev.postgres import run_apart
from headrace.tools.dev.waiting import holds_within
from nix.vm.machine import POSTGRES, RECEIVER, REDIS, Answer, Completed, MachineInterface, ScenarioError
from nix.vm.site import ORG, SECRET_NAME, SETUP
from tests.fixtures.workers import StartWorker, WorkerProcess

HTTP_TIMEOUT_SECONDS: Final = 10.0
CONSOLE: Final = "headrace.workers.console.main"
PRELOADED: Final = (
    "headrace.workers.maintenance.process",
    "headrace.workers.webhook_dispatcher.process",
    "headrace.workers.console.container",
    "headrace.infra.cache.impl.redis",
    "headrace.infra.topics.impl.redis",
    "uvloop",
    CONSOLE,
)
"""What the processes have without importing it; each then starts in a fraction of the time."""

READY: Final = timedelta(seconds=40)
LOG_TAIL: Final = 4000
DATABASE: Final = "headrace"
VM: Final = Path(__file__).parents[2] / "nix" / "vm"


def prepare_database(server: PostgresServer) -> LoginUrls:
    """Create the scenario's database with the three logins, by the very statements that the virtual machine runs."""
    server.create_database(DATABASE)
    passwords = {login: SETUP["passwords"][login] for login in Login}
    script = (VM / "logins.sql").read_text(encoding="utf-8")
    for login, password in passwords.items():
        script = script.replace(f"@{login}@", password)
    server.execute(script, database=DATABASE)
    return LoginUrls(f"postgresql://{server.host}:{server.port}/{DATABASE}", passwords)


class LocalMachine(MachineInterface):
    """Processes of this machine.

    Args:
        folder: Where secrets and logs go.
        postgres: A server of its own, with the database of `prepare_database`.
        redis: Likewise.
        urls: The logins.
        start_worker: Starts worker processes.
    """

    def __init__(
        self, folder: Path, postgres: PostgresServer, redis: RedisServer, urls: LoginUrls, start_worker: StartWorker
    ) -> None:
        self._folder = folder
        self._servers: dict[str, PostgresServer | RedisServer] = {POSTGRES: postgres, REDIS: redis}
        self._urls = urls
        self._start_worker = start_worker
        self._workers: dict[str, WorkerProcess] = {}
        self._receiver: subprocess.Popen[bytes] | None = None
        self._receiver_port = free_port()
        secrets = folder / "secrets"
        secrets.mkdir()
        (secrets / SECRET_NAME).write_text(ORG["signing_secret"], encoding="ascii")
        self._environment = {
            **urls.environment(),
            "HEADRACE_REDIS_URL": redis.url,
            "HEADRACE_CACHE_BACKEND": "redis",
            "HEADRACE_TOPICS_BACKEND": "redis",
            "HEADRACE_SECRETS_BACKEND": "file",
            "HEADRACE_SECRETS_DIR": str(secrets),
        }

    def close(self) -> None:
        """End the receiver; servers and workers belong to whoever gave them."""
        if self._receiver is not None:
            self._receiver.kill()
            self._receiver.wait()

    @override
    def start(self, unit: str) -> None:
        if unit in self._servers:
            self._servers[unit].start()
        elif unit == RECEIVER:
            self._start_receiver()
        elif not self.is_running(unit):
            self._start_one(unit)

    @override
    def stop(self, unit: str) -> int:
        if unit in self._servers:
            self._servers[unit].stop()
            return 0
        if not self.is_running(unit):
            return 0
        worker = self._workers[unit]
        worker.send(signal.SIGTERM)
        window = timedelta(seconds=float(SETUP["settings"]["stop_window"].removesuffix("s")))
        if not holds_within(lambda: worker.exit_code is not None, window):
            raise ScenarioError(f"{unit} did not end within {window}: {self.log(unit)}")
        return worker.exit_code or 0

    @override
    def kill(self, unit: str) -> None:
        worker = self._workers[unit]
        worker.send(signal.SIGKILL)
        holds_within(lambda: worker.exit_code is not None, READY)

    @override
    def is_running(self, unit: str) -> bool:
        if unit in self._servers:
            return self._servers[unit].is_running
        worker = self._workers.get(unit)
        return worker is not None and worker.exit_code is None

    @override
    def headrace(self, *arguments: str, api_key: str | None = None) -> Completed:
        key = {} if api_key is None else {"HEADRACE_API_KEY": api_key}
        command = self._start_worker(self._environment | key, {}, module=CONSOLE, subcommand=arguments)
        return _completed(command)

    @override
    def probe(self, worker: str) -> Completed:
        return _completed(self._begin(worker, self._workers[worker].port, ("healthcheck",)))

    @override
    def query(self, statement: str, *, org_id: str | None = None) -> Completed:
        dsn, settings = self._urls.runtime, {} if org_id is None else {"app.org_id": org_id}

        async def fetched() -> list[asyncpg.Record]:
            connection = await asyncpg.connect(dsn, timeout=10, server_settings=settings)
            try:
                rows: list[asyncpg.Record] = await connection.fetch(statement)
            finally:
                await connection.close()
            return rows

        try:
            rows = run_apart(fetched)
        except asyncpg.PostgresError as error:
            return Completed(1, str(error))
        return Completed(0, "\n".join(str(row[0]) for row in rows))

    @override
    def http(self, unit: str, method: str, path: str) -> Answer | None:
        connection = http.client.HTTPConnection(LOOPBACK, self._port(unit), timeout=HTTP_TIMEOUT_SECONDS)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read().decode())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    @override
    def url(self, unit: str) -> str:
        return f"http://{LOOPBACK}:{self._port(unit)}"

    @override
    def log(self, unit: str) -> str:
        return self._workers[unit].output[-LOG_TAIL:] if unit in self._workers else ""

    def _port(self, unit: str) -> int:
        return self._receiver_port if unit == RECEIVER else self._workers[unit].port

    def _start_one(self, unit: str) -> None:
        worker = self._begin(unit, None, ("serve",))
        self._workers[unit] = worker

        def is_ready() -> bool:
            answer = self.http(unit, "GET", "/readyz")
            return worker.exit_code is not None or (answer is not None and answer.status == http.client.OK)

        if not holds_within(is_ready, READY) or worker.exit_code is not None:
            raise ScenarioError(f"{unit} did not start: {self.log(unit)}")

    def _begin(self, unit: str, port: int | None, subcommand: tuple[str, ...]) -> WorkerProcess:
        name = SETUP["workers"][unit]["worker"]
        settings: dict[str, Any] = {key: _written(value) for key, value in SETUP["settings"].items()}
        settings |= {"service": unit} | ({} if port is None else {"metrics_port": port})
        module = f"headrace.workers.{name.replace('-', '_')}.main"
        return self._start_worker(self._environment, settings, module=module, subcommand=subcommand)

    def _start_receiver(self) -> None:
        if self._receiver is None:
            argv = [sys.executable, str(VM / "receiver.py"), str(self._receiver_port)]
            self._receiver = subprocess.Popen(argv, cwd=self._folder)  # noqa: S603 - our own program
        with suppress(ScenarioError):
            holds_within(lambda: self.http(RECEIVER, "GET", "/control/posts") is not None, READY)


def _completed(command: WorkerProcess) -> Completed:
    """Wait for a command's end; return how it ended."""
    if not holds_within(lambda: command.exit_code is not None, READY):
        raise ScenarioError(f"a command did not end within {READY}: {command.output}")
    return Completed(-1 if command.exit_code is None else command.exit_code, command.output)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
