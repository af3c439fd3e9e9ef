"""PostgreSQL and Redis in containers, where a Docker engine answers: drives `deployment/local/docker-compose.yml`."""

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.logins import login_urls

FOLDER: Final = Path("deployment", "local")
SERVERS_FILE: Final = "docker-compose.yml"
FULL_FILE: Final = "docker-compose.full.yml"
PASSWORD_VARIABLE: Final = "HEADRACE_LOCAL_PASSWORD"  # noqa: S105 - a variable's name
DATABASE_PORT_VARIABLE: Final = "HEADRACE_LOCAL_DATABASE_PORT"
REDIS_PORT_VARIABLE: Final = "HEADRACE_LOCAL_REDIS_PORT"

PROBE_TIMEOUT: Final = timedelta(seconds=5)
# The first start pulls both images.
START_TIMEOUT: Final = timedelta(minutes=10)
STOP_TIMEOUT: Final = timedelta(minutes=1)


class Service(StrEnum):
    """A server of the compose file."""

    POSTGRES = "postgres"
    REDIS = "redis"


_PORTS: Final[Mapping[Service, int]] = {Service.POSTGRES: 5432, Service.REDIS: 6379}


@dataclass(frozen=True, slots=True)
class ComposeProject:
    """The compose project of one working tree: its containers and volumes carry the tree's mark in their names.

    Attributes:
        root: The working tree.
        state: The tree's state folder; holds the password of both servers.
    """

    root: Path
    state: Path

    @property
    def name(self) -> str:
        """The project's name, another one for each clone."""
        return f"headrace-{hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:8]}"

    @property
    def password(self) -> str:
        """The password of both servers, made once and kept readable for its owner only."""
        file = self.state / "compose-password"
        if not file.exists():
            draft = file.with_suffix(".draft")
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(24), encoding="ascii")
            draft.replace(file)
        return file.read_text(encoding="ascii")

    def problem(self) -> str | None:
        """Return why containers cannot be used here, in a few words; None when they can. Starts nothing."""
        if not (self.root / FOLDER / SERVERS_FILE).is_file():
            return f"the working tree has no {FOLDER / SERVERS_FILE}"
        if shutil.which("docker") is None:
            return "there is no docker on PATH"
        for argv, words in _PROBES.items():
            if _quiet(argv, os.environ, PROBE_TIMEOUT).returncode:
                return words
        return None

    def running(self) -> frozenset[Service]:
        """Return which of the servers run.

        Raises:
            DevServerError: The engine refused to say.
        """
        told = self._compose("ps", "--services", "--status", "running", timeout=PROBE_TIMEOUT).split()
        return frozenset(service for service in Service if service in told)

    def start(self, services: Collection[Service], ports: Mapping[Service, int | None]) -> None:
        """Start servers and return when they answer; those that run already are left as they are.

        Raises:
            DevServerError: An image cannot be had, a port is busy, or a server did not become healthy.
        """
        wanted = [str(service) for service in Service if service in services]
        waiting = ("--detach", "--wait", "--wait-timeout", str(int(START_TIMEOUT.total_seconds())))
        self._compose("up", *waiting, *wanted, ports=ports, timeout=START_TIMEOUT + PROBE_TIMEOUT)

    def stop(self, services: Collection[Service]) -> None:
        """Stop servers; their data stays."""
        self._compose("stop", *sorted(services), timeout=STOP_TIMEOUT)

    def remove(self, *, data: bool) -> None:
        """Stop everything of the project and remove its containers, workers' too; with `data` also what was stored."""
        arguments = ("--remove-orphans", *(("--volumes",) if data else ()))
        self._compose("down", *arguments, timeout=STOP_TIMEOUT)

    def database_url(self, name: str) -> str:
        """Return the administrator's URL of a database; the server must run."""
        return f"postgresql://postgres:{self.password}@{self.place(Service.POSTGRES)}/{name}"

    def redis_url(self) -> str:
        """Return Redis' URL; it must run."""
        return f"redis://:{self.password}@{self.place(Service.REDIS)}/0"

    def describe(self, service: Service) -> str:
        """Return a line about a running server, without secrets."""
        return f"{'PostgreSQL' if service is Service.POSTGRES else 'Redis'} (container) on {self.place(service)}"

    def full_argv(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line of `docker compose` over both files, workers included."""
        return [*self._argv(), "--file", str(self.root / FOLDER / FULL_FILE), *arguments]

    def environment(self, ports: Mapping[Service, int | None] | None = None) -> dict[str, str]:
        """Return what the compose files ask for; it holds passwords."""
        logins = login_urls(f"postgresql://postgres:{self.password}@postgres/headrace").environment()
        chosen = ports or {}
        return {
            **os.environ,
            **{name: value for name, value in logins.items() if name.endswith("_PASSWORD")},
            PASSWORD_VARIABLE: self.password,
            DATABASE_PORT_VARIABLE: str(chosen.get(Service.POSTGRES) or ""),
            REDIS_PORT_VARIABLE: str(chosen.get(Service.REDIS) or ""),
        }

    def _argv(self) -> list[str]:
        file = self.root / FOLDER / SERVERS_FILE
        return ["docker", "compose", "--project-name", self.name, "--file", str(file)]

    def place(self, service: Service) -> str:
        """Return host and port where a running server listens on this machine."""
        return self._compose("port", service, str(_PORTS[service]), timeout=PROBE_TIMEOUT).strip()

    def _compose(self, *arguments: str, timeout: timedelta, ports: Mapping[Service, int | None] | None = None) -> str:
        done = _quiet((*self._argv(), *arguments), self.environment(ports), timeout)
        if done.returncode:
            said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
            raise DevServerError(f"`docker compose {arguments[0]}` failed: {said[-400:]}")
        return done.stdout


_PROBES: Final[Mapping[tuple[str, ...], str]] = {
    ("docker", "version", "--format", "{{.Server.Version}}"): "no Docker engine answers",
    ("docker", "compose", "version", "--short"): "docker has no compose",
}


class Containers:
    """Servers in containers for the time of a `with` block: those that did not run before it are stopped after it.

    Args:
        project: The working tree's project.
        services: The servers to have.
        ports: Where they shall listen on this machine; a free port when None.

    Raises:
        DevServerError: On entering, see `ComposeProject.start`; what it started is stopped.
    """

    def __init__(
        self, project: ComposeProject, services: Collection[Service], ports: Mapping[Service, int | None]
    ) -> None:
        self._project = project
        self._services = frozenset(services)
        self._ports = ports
        self._started: frozenset[Service] = frozenset()

    def __enter__(self) -> Self:
        self._started = self._services - self._project.running()
        try:
            if self._started:
                self._project.start(self._started, self._ports)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            self._project.stop(self._started)


def _quiet(argv: Sequence[str], environment: Mapping[str, str], timeout: timedelta) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; one that cannot run or takes too long counts as failed."""
    try:
        return subprocess.run(  # noqa: S603 - docker with this module's own arguments
            argv, env=environment, capture_output=True, text=True, check=False, timeout=timeout.total_seconds()
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", f"no answer within {timeout.total_seconds():.0f} s")
    except OSError as error:
        return subprocess.CompletedProcess(argv, 127, "", f"{argv[0]} cannot be run: {error.strerror}")
