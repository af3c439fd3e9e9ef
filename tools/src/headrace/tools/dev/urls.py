"""Where everything of a working tree listens, for the person at the terminal."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from headrace.tools.dev.compose import ComposeProject, Service
from headrace.tools.dev.local_stack import places_of
from headrace.tools.dev.ports import LOOPBACK
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.processes import PID_FILE, PidRecord
from headrace.tools.dev.providers import DATABASE_NAME, DATABASE_VARIABLE, REDIS_VARIABLE
from headrace.tools.dev.state import servers_directory

NOTHING: Final = "nothing runs: `make up` starts the servers, `make run` everything"

_VARIABLES: Final = {Service.POSTGRES: DATABASE_VARIABLE, Service.REDIS: REDIS_VARIABLE}
_SHAPES: Final = {
    Service.POSTGRES: ("PostgreSQL", f"postgresql://{{}}/{DATABASE_NAME}"),
    Service.REDIS: ("Redis", "redis://{}/0"),
}


def where_all_is(project: ComposeProject, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each server and worker of a working tree that runs, or one that says how to start them.

    Starts nothing, and tells no secrets.

    Args:
        project: The working tree's.
        environment: Where URLs of servers are looked up first.

    Raises:
        DevServerError: A Docker engine answers, and refuses to say what runs.
    """
    servers = tuple(_servers(project, environment))
    workers = tuple(_workers(places_of(project.state).pids))
    if not (servers or workers):
        yield NOTHING
        return
    yield from (f"{name:<20} {url}" for name, url in servers)
    yield from (f"{name:<20} http://{LOOPBACK}:{port}/healthz, /readyz, /metrics" for name, port in workers)
    yield f"{'passwords':<20} .venv/bin/python -m headrace.tools.dev env"


def _servers(project: ComposeProject, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    contained = project.running() if project.problem() is None else frozenset()
    for service, (name, shape) in _SHAPES.items():
        place = _own_place(project.state, service) or (project.place(service) if service in contained else None)
        if given := environment.get(_VARIABLES[service]):
            yield f"{name} (given)", _without_secrets(given)
        elif place is not None:
            yield name, shape.format(place)


def _own_place(state: Path, service: Service) -> str | None:
    record = PidRecord.read(servers_directory(state, server_identity()) / service / PID_FILE)
    return None if record is None else f"{LOOPBACK}:{record.port}"


def _workers(pids: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(pids.glob("*.pid")):
        record = PidRecord.read(file)
        if record is not None and record.port:
            yield file.stem, record.port


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
