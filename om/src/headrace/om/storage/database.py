"""The engines of a process and the one funnel through which every statement reaches a database.

Every session says which tenant it is for. The funnel picks the login's engine, names the tenant for that one
transaction, commits on success, and turns a driver's error into one of the object model's.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol, cast
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import URL, ClauseElement, Executable, Table, event, text
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.sql import visitors

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import PlatformException, PreconditionFailed, Unavailable
from headrace.om.storage.errors import translated
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.roles import TENANT_SETTING, DatabaseRole, Login

logger = logging.getLogger(__name__)

MAX_TRANSIENT_TRIES: Final = 3
"""How often a control statement is tried, each time in a new transaction, before it is given up."""


CONTROL_PLANS: Final = {"plan_cache_mode": "force_generic_plan", "enable_bitmapscan": "off"}
"""Control statements are written so that one plan serves any parameters: planning a claim takes longer than it.

They walk indexes in order and stop at the first rows. A bitmap reads all of them first and sorts them, and costs as
little where statistics, taken while nothing was due, say that there are none: a claim would then read every due item.
"""


class Purpose(StrEnum):
    """Which pool a statement takes its connection from."""

    MAIN = "main"
    """Handlers' and managers' own work."""
    CONTROL = "control"
    """Claims, renewals, settlements and the sweep: handlers that hold every main connection cannot starve it."""


@dataclass(frozen=True, slots=True)
class DriverStatement:
    """A statement in the driver's own SQL, for the hot paths.

    Attributes:
        name: For logs.
        role: Whose tables it is about.
        sql: Its text.
        names_tenant: Whether it sets `TENANT_SETTING` for its own transaction before a policy asks for it, so that
            nothing need be sent before or after it.
    """

    name: str
    role: DatabaseRole
    sql: str
    names_tenant: bool = False


class DriverConnection(Protocol):
    """What the hot paths use of the driver's connection."""

    async def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:  # noqa: ANN401 - the driver's own signature
        """Run the statement and return its rows."""
        ...


@dataclass(frozen=True, slots=True)
class _EngineKey:
    url: URL
    login: Login
    purpose: Purpose


class Database:
    """The engines of one process, made on first use and shared where roles share a URL.

    Constructing opens nothing; the first statement does. Safe to use from many tasks of one event loop.
    """

    def __init__(self, options: DatabaseOptions) -> None:
        self._options = options
        self._engines: dict[_EngineKey, AsyncEngine] = {}
        self._engine_of: dict[tuple[DatabaseRole, Login, Purpose], AsyncEngine] = {}
        self._sessions: dict[AsyncEngine, async_sessionmaker[AsyncSession]] = {}
        self._is_closed = False

    def describe(self) -> str:
        """Return one line for the log that names every server and database, and no password."""
        # URL.set cannot clear a part, and a query may hold secrets too: only what is safe is taken over.
        urls = {
            URL.create("postgresql", host=url.host, port=url.port, database=url.database)
            for url in self._options.urls.values()
        }
        return "postgres " + ", ".join(sorted(url.render_as_string() for url in urls))

    async def close(self) -> None:
        """Close every connection, for good; safe to call twice."""
        self._is_closed = True
        engines, self._engines, self._engine_of, self._sessions = list(self._engines.values()), {}, {}, {}
        for engine in engines:
            await engine.dispose()

    @asynccontextmanager
    async def session_for(
        self, stmt: Executable | DatabaseRole, *, org_id: UUID | None = None, purpose: Purpose = Purpose.MAIN
    ) -> AsyncIterator[AsyncSession]:
        """Open a session in a transaction for one tenant; commit at the end, roll back on any error.

        Args:
            stmt: The statement to come, whose tables name the role, or the role itself.
            org_id: The tenant. `EMPTY_UUID`, passed explicitly, is the system scope, which only the system
                login is admitted to. None names no tenant: then the policies show nothing.
            purpose: Which pool to take the connection from.

        Raises:
            PreconditionFailed: `close` was called; nothing is opened again.
            Unavailable: No connection in time, or the database went away; nothing was committed.
            ValidationFailed: The database cannot hold a value; nothing was committed.
        """
        role = stmt if isinstance(stmt, DatabaseRole) else role_of(stmt)
        engine = self._engine(role, _login_for(org_id), purpose)
        with _translating():
            async with self._session_factory(engine)() as session, session.begin():
                await self._enter(session, org_id)
                yield session

    @asynccontextmanager
    async def driver_for(
        self, stmt: DriverStatement, *, org_id: UUID, purpose: Purpose = Purpose.MAIN
    ) -> AsyncIterator[DriverConnection]:
        """Lend the driver's own connection for one statement, under the same rules as `session_for`.

        The system scope needs no transaction around a single statement: the system login's connections carry the
        scope from their start, which a managed server grants where it refuses the login a setting of its own. A
        tenant's statement runs in a transaction that names the tenant, unless it names it itself.
        """
        engine = self._engine(stmt.role, _login_for(org_id), purpose)
        with _translating():
            connection = await engine.connect()
            try:
                raw = _driver_of(connection)
                async with self._scope(raw, stmt, org_id):
                    yield raw
            except BaseException as error:
                await _discard_when_doubtful(connection, error)
                raise
            finally:
                # Waits for nothing, since no transaction is the engine's own; `async with` would make a task for it.
                await connection.close()
                # Whoever waits for the connection has it now, and not who asks for the next one in the same breath.
                await asyncio.sleep(0)

    def _scope(
        self,
        raw: Any,  # noqa: ANN401 - asyncpg has no types
        stmt: DriverStatement,
        org_id: UUID,
    ) -> AbstractAsyncContextManager[None]:
        if (org_id == EMPTY_UUID or stmt.names_tenant) and not self._options.transaction_pooler:
            return _no_transaction()
        return _transaction(raw, self._opening(org_id))

    def _opening(self, org_id: UUID) -> str:
        """Return what opens a transaction for a tenant, in one round trip."""
        return f"BEGIN; {self._settings_sql(org_id)}"

    def _settings_sql(self, org_id: UUID | None) -> str:
        pairs = {} if org_id is None else {TENANT_SETTING: str(org_id)}
        if self._options.transaction_pooler:
            pairs |= self._session_settings()
        calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in pairs.items())
        return f"SELECT {calls}" if calls else "SELECT 1"

    async def _enter(self, session: AsyncSession, org_id: UUID | None) -> None:
        if org_id is not None or self._options.transaction_pooler:
            await session.execute(text(self._settings_sql(org_id)))

    def _key(self, role: DatabaseRole, login: Login, purpose: Purpose) -> _EngineKey:
        if self._is_closed:
            raise PreconditionFailed("the database's connections are closed: this process is ending")
        url = self._options.urls.get((role, login))
        if url is None:
            raise PreconditionFailed(f"database_{login}_password is not set: this process has no {login} login")
        return _EngineKey(url, login, purpose)

    def _session_factory(self, engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
        if (factory := self._sessions.get(engine)) is None:
            factory = async_sessionmaker(engine, expire_on_commit=False)
            self._sessions[engine] = factory
        return factory

    def _engine(self, role: DatabaseRole, login: Login, purpose: Purpose) -> AsyncEngine:
        # By what is asked for: to hash a URL is to spell it out, with every statement.
        if (engine := self._engine_of.get((role, login, purpose))) is None:
            engine = self._shared_engine(self._key(role, login, purpose))
            self._engine_of[role, login, purpose] = engine
        return engine

    def _shared_engine(self, key: _EngineKey) -> AsyncEngine:
        if (engine := self._engines.get(key)) is None:
            engine = self._new_engine(key)
            self._engines[key] = engine
        return engine

    def _new_engine(self, key: _EngineKey) -> AsyncEngine:
        limits = self._options.limits
        control = key.purpose is Purpose.CONTROL
        engine = create_async_engine(
            key.url,
            pool_size=limits.control_pool_size if control else limits.pool_size,
            max_overflow=0,
            pool_timeout=limits.pool_timeout.total_seconds(),
            pool_recycle=limits.connection_max_age.total_seconds(),
            pool_pre_ping=False,
            # An error's text goes to logs and reports; what tenants wrote does not.
            hide_parameters=True,
            connect_args=self._connect_args(key),
        )
        event.listen(engine.sync_engine, "checkout", _replace_when_closed)
        return engine

    def _connect_args(self, key: _EngineKey) -> dict[str, object]:
        limits = self._options.limits
        common: dict[str, object] = {"timeout": limits.connect_timeout.total_seconds()}
        if self._options.transaction_pooler:
            unnamed = {"statement_cache_size": 0, "prepared_statement_cache_size": 0}
            return common | unnamed | {"prepared_statement_name_func": lambda: f"__headrace_{uuid4().hex}__"}
        name = f"{self._options.application_name}/{key.purpose}"
        planning = CONTROL_PLANS if key.purpose is Purpose.CONTROL else {}
        scope = {TENANT_SETTING: str(EMPTY_UUID)} if key.login is Login.SYSTEM else {}
        settings = {"application_name": name[:63], **self._session_settings(), **planning, **scope}
        return common | {"server_settings": settings}

    def _session_settings(self) -> dict[str, str]:
        """Return how long a statement may take and wait; and that none is compiled: that takes longer than any runs."""
        limits = self._options.limits
        each = {
            "statement_timeout": limits.statement_timeout,
            "lock_timeout": limits.lock_timeout,
            "idle_in_transaction_session_timeout": limits.idle_in_transaction_timeout,
        }
        timeouts = {name: str(max(1, int(value.total_seconds() * 1000))) for name, value in each.items()}
        return timeouts | {"jit": "off"}


async def retried[Result](statement: Callable[[], Awaitable[Result]]) -> Result:
    """Run a control statement, again in a new transaction when the database refused it for now.

    Raises:
        Unavailable: It was refused `MAX_TRANSIENT_TRIES` times.
    """
    for _ in range(MAX_TRANSIENT_TRIES - 1):
        try:
            return await statement()
        except Unavailable as error:
            logger.warning("a control statement is tried again: %s", error)
    return await statement()


def role_of(stmt: Executable) -> DatabaseRole:
    """Return the database role of the tables that a statement names.

    Raises:
        ValueError: It names none, or tables of two roles; no statement may cross roles.
    """
    elements = visitors.iterate(cast("ClauseElement", stmt))
    schemas = {element.schema for element in elements if isinstance(element, Table) and element.schema}
    table = getattr(stmt, "table", None)
    if isinstance(table, Table) and table.schema:
        schemas.add(table.schema)
    if len(schemas) != 1:
        raise ValueError(f"a statement belongs to exactly one database role, this one to {sorted(schemas)}")
    return DatabaseRole(schemas.pop())


def _driver_of(connection: AsyncConnection) -> DriverConnection:
    """Return the driver's connection below an engine's that is open, at once: there is nothing to wait for."""
    opened = connection.sync_connection
    if opened is None:
        raise PreconditionFailed("the connection was closed")
    return cast("DriverConnection", opened.connection.driver_connection)


def _login_for(org_id: UUID | None) -> Login:
    return Login.SYSTEM if org_id == EMPTY_UUID else Login.RUNTIME


class _translating:  # noqa: N801 - read as a statement: with _translating()
    """Turn a driver's error into the object model's, with the driver's own as its cause."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, PlatformException):
            return
        if (known := translated(error)) is not None:
            raise known from error


@asynccontextmanager
async def _no_transaction() -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def _transaction(raw: Any, opening: str) -> AsyncIterator[None]:  # noqa: ANN401 - asyncpg has no types
    try:
        await raw.execute(opening)
        yield
    except Exception:
        # Also where only the opening failed: its BEGIN may have been carried out before what follows it.
        await raw.execute("ROLLBACK")
        raise
    await raw.execute("COMMIT")


def _replace_when_closed(adapted: Any, *_record_and_proxy: object) -> None:  # noqa: ANN401 - asyncpg has no types
    """Have the pool replace a connection that the server closed meanwhile, and all that are as old.

    So that a restart costs no statement once it is over. The driver has seen the close: asking it is no round trip.
    """
    if adapted.driver_connection.is_closed():
        raise InvalidatePoolError


async def _discard_when_doubtful(connection: AsyncConnection, error: BaseException) -> None:
    """Drop the connection after a cancel or a lost server: what state it is in, nobody knows."""
    if not isinstance(error, asyncpg.PostgresError):
        await connection.invalidate()
