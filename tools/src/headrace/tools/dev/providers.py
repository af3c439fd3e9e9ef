"""Finds or starts the servers of the local stack, in one order for everybody.

The order: a URL in the environment; containers, where a Docker engine answers; programs on the machine; programs in
wheels. Redis may be missing: the cache is in memory then and topics ride PostgreSQL.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from headrace.tools.dev.binaries import ANY_SOURCE, Source, find_postgres, find_redis
from headrace.tools.dev.compose import ComposeProject, Containers, Service
from headrace.tools.dev.exceptions import DevServerError, reason_of
from headrace.tools.dev.logins import connect
from headrace.tools.dev.postgres import PostgresServer, run_apart
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.processes import PID_FILE, PidRecord
from headrace.tools.dev.redis import RedisServer, ping
from headrace.tools.dev.state import servers_directory

DATABASE_VARIABLE = "HEADRACE_DATABASE_URL"
REDIS_VARIABLE = "HEADRACE_REDIS_URL"
DATABASE_NAME = "headrace"


@dataclass(frozen=True, slots=True)
class LocalServers:
    """The servers of the local stack, all of which answer.

    Attributes:
        database_url: The administrator's URL of the platform's database.
        redis_url: The Redis server, or None when there is none.
        descriptions: A line about each server for the person at the terminal, without secrets.
    """

    database_url: str = field(repr=False)
    redis_url: str | None = field(repr=False)
    descriptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller wants of the servers.

    Attributes:
        database_port: Where PostgreSQL shall listen; a free port when None.
        redis_port: Where Redis shall listen; a free port when None.
        is_persistent: Whether servers started here stay when the caller ends.
        is_running: Whether to take only a server that runs already, of those that would be started here.
        sources: Where servers may come from, in this order.
    """

    database_port: int | None = None
    redis_port: int | None = None
    is_persistent: bool = False
    is_running: bool = False
    sources: tuple[Source, ...] = ANY_SOURCE


@contextmanager
def provide(state: Path, environment: Mapping[str, str], wishes: Wishes | None = None) -> Iterator[LocalServers]:
    """Gives servers that answer, and stops on leaving those that it started (unless they are to stay).

    Args:
        state: The state folder of the working tree, see `headrace.tools.dev.state`.
        environment: Where `HEADRACE_DATABASE_URL` and `HEADRACE_REDIS_URL` are looked up.
        wishes: Ports and the like.

    Raises:
        DevServerError: A URL of the environment does not answer, a requested port is busy, or there are no programs.
            Nothing keeps running.
    """
    wanted = wishes or Wishes()
    with ExitStack() as running:
        project, note = _contained(state, environment, wanted, running)
        database_url, database = _database(state, environment, wanted, running, project)
        redis_url, cache = _redis(state, environment, wanted, running, project)
        if wanted.is_persistent:
            running.pop_all()
        yield LocalServers(database_url=database_url, redis_url=redis_url, descriptions=(database, cache, *note))


def _contained(
    state: Path, environment: Mapping[str, str], wishes: Wishes, running: ExitStack
) -> tuple[ComposeProject | None, tuple[str, ...]]:
    """Return the project whose containers run now, or None; and what to tell of a try that failed."""
    project = ComposeProject(root=state.parent, state=state)
    services = _missing(environment)
    if not services or not _takes_containers(project, state, wishes):
        return None, ()
    ports = {Service.POSTGRES: wishes.database_port, Service.REDIS: wishes.redis_port}
    try:
        if wishes.is_running and not services <= project.running():
            return None, ()
        running.enter_context(Containers(project, services, ports))
    except DevServerError as error:
        return None, (f"containers were tried first: {error}",)
    return project, ()


def _missing(environment: Mapping[str, str]) -> frozenset[Service]:
    """Return the servers that the environment names no URL of."""
    variables = {Service.POSTGRES: DATABASE_VARIABLE, Service.REDIS: REDIS_VARIABLE}
    return frozenset(service for service, variable in variables.items() if not environment.get(variable))


def _takes_containers(project: ComposeProject, state: Path, wishes: Wishes) -> bool:
    """Tells whether containers come first here: not beside servers of this tree that run already with their data."""
    if Source.COMPOSE not in wishes.sources or _stays(servers_directory(state, server_identity()) / "postgres"):
        return False
    return project.problem() is None


def _database(
    state: Path,
    environment: Mapping[str, str],
    wishes: Wishes,
    running: ExitStack,
    project: ComposeProject | None,
) -> tuple[str, str]:
    given = environment.get(DATABASE_VARIABLE)
    if given:
        run_apart(lambda: _check_database(given))
        return given, f"PostgreSQL at {_place(given)} (from {DATABASE_VARIABLE})"
    if project is not None:
        url = project.database_url(DATABASE_NAME)
        run_apart(lambda: _check_database(url))
        return url, project.describe(Service.POSTGRES)
    folder = servers_directory(state, server_identity()) / "postgres"
    _require_running(folder, wishes)
    server = PostgresServer(
        folder,
        port=wishes.database_port,
        binaries=find_postgres(wishes.sources),
        is_persistent=wishes.is_persistent,
    )
    running.enter_context(server)
    return _ensure_database(server), server.describe()


def _redis(
    state: Path,
    environment: Mapping[str, str],
    wishes: Wishes,
    running: ExitStack,
    project: ComposeProject | None,
) -> tuple[str | None, str]:
    given = environment.get(REDIS_VARIABLE)
    if given:
        error = ping(given)
        if error is not None:
            raise DevServerError(f"Redis at {_place(given)} ({REDIS_VARIABLE}) cannot be used: {reason_of(error)}.")
        return given, f"Redis at {_place(given)} (from {REDIS_VARIABLE})"
    if project is not None:
        return project.redis_url(), project.describe(Service.REDIS)
    folder = servers_directory(state, server_identity()) / "redis"
    binary = find_redis(wishes.sources)
    if binary is None or (wishes.is_running and not _stays(folder)):
        return None, "no Redis: the cache is in memory and topics ride PostgreSQL"
    server = RedisServer(
        folder,
        port=wishes.redis_port,
        binary=binary,
        is_persistent=wishes.is_persistent,
    )
    running.enter_context(server)
    return server.url, server.describe()


def _require_running(folder: Path, wishes: Wishes) -> None:
    if wishes.is_running and not _stays(folder):
        raise DevServerError("No PostgreSQL of this working tree is running; run `make up` first.")


def _stays(folder: Path) -> bool:
    record = PidRecord.read(folder / PID_FILE)
    return record is not None and record.owner is None


def _place(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


async def _check_database(url: str) -> None:
    connection = await connect(url, setting=DATABASE_VARIABLE)
    try:
        await connection.fetchval("SELECT 1")
    finally:
        connection.terminate()


def _ensure_database(server: PostgresServer) -> str:
    if run_apart(lambda: _lacks_database(server.dsn())):
        server.create_database(DATABASE_NAME)
    return server.dsn(DATABASE_NAME)


async def _lacks_database(dsn: str) -> bool:
    connection = await connect(dsn)
    try:
        return not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", DATABASE_NAME)
    finally:
        connection.terminate()
