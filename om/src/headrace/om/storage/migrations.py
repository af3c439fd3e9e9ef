"""Bringing the schemas of a database to this code's revisions.

Each database role has a schema, a chain of revisions and a version table in that schema. The migration login
owns all three.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4
from zlib import crc32

from alembic import command
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from headrace.om.exceptions import PlatformException, PreconditionFailed, Unavailable
from headrace.om.storage.errors import translated
from headrace.om.storage.migration_scripts import (
    MigrationLimits,
    MigrationRun,
    alembic_config,
    set_locally,
)
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.revisions import migrations_directory, newest_revision, read_revision, refuse_other_revision
from headrace.om.storage.roles import LOGIN_NAMES, DatabaseRole, Login

logger = logging.getLogger(__name__)

TURN_POLL_SECONDS: Final = 0.1
DEFAULT_LIMITS: Final = MigrationLimits()
_ALEMBIC: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """Which chain to run, within which bounds, from which folder."""

    role: DatabaseRole
    limits: MigrationLimits
    source: Path


async def migrate(
    options: DatabaseOptions,
    *,
    role: DatabaseRole | None = None,
    limits: MigrationLimits = DEFAULT_LIMITS,
    source: Path | None = None,
) -> Mapping[DatabaseRole, str | None]:
    """Bring one role's schema, or every role's, to the newest revision; safe to call again and from many processes.

    Processes that migrate at once take turns; those that come late find nothing left to do. A revision is
    applied as a whole or not at all, so a run that failed is repaired by running again.

    Args:
        options: Where the databases are; the migration login must be among its URLs.
        role: The only role to migrate; all of them when None.
        limits: What bounds locks, statements and the wait for other processes.
        source: The folder of the migrations; this code's own when None.

    Returns:
        The revision that each migrated role is at now; None where this code has no revision for it.

    Raises:
        PreconditionFailed: There is no migration login, or a login that the policies name does not exist.
        SchemaMismatch: A schema is newer than the migrations are; it was not touched.
        Unavailable: A lock or the turn did not come in time, or the database went away; the revisions that were
            applied stay.
    """
    reached: dict[DatabaseRole, str | None] = {}
    for each in _roles(role):
        async with _turn(options, each, limits) as engine:
            await _run(engine, MigrationPlan(each, limits, source or migrations_directory()), _upgrade)
            reached[each] = await _revision_of(engine, each)
            logger.info("schema %s is at revision %s", each, reached[each])
    return reached


async def downgrade(
    options: DatabaseOptions,
    *,
    role: DatabaseRole,
    to: str = "-1",
    limits: MigrationLimits = DEFAULT_LIMITS,
    source: Path | None = None,
) -> str | None:
    """Take a role's schema back to a revision, for developers and the migration check.

    Args:
        options: Where the databases are.
        role: The role.
        to: A revision, `-1` for one step back, or `base` for none; `base` leaves the schema and its version table.
        limits: What bounds it.
        source: The folder of the migrations; this code's own when None.

    Returns:
        The revision that the schema is at now; None for none.

    Raises:
        Unavailable: As in `migrate`.
    """
    plan = MigrationPlan(role, limits, source or migrations_directory())
    async with _turn(options, role, limits) as engine:
        await _run(engine, plan, lambda run: command.downgrade(alembic_config(run), to))
        return await _revision_of(engine, role)


async def current_revisions(options: DatabaseOptions) -> Mapping[DatabaseRole, str | None]:
    """Return the revision that each role's schema is at; None where it was never migrated.

    Raises:
        Unavailable: The database cannot be reached.
    """
    found: dict[DatabaseRole, str | None] = {}
    for role in DatabaseRole:
        async with migration_engine(options, role) as engine:
            found[role] = await _revision_of(engine, role)
    return found


def _roles(role: DatabaseRole | None) -> tuple[DatabaseRole, ...]:
    return tuple(DatabaseRole) if role is None else (role,)


async def _run(engine: AsyncEngine, plan: MigrationPlan, act: Callable[[MigrationRun], None]) -> None:
    async with engine.begin() as connection:
        await connection.run_sync(_prepare_schema, plan.role, plan.limits)
    if newest_revision(plan.role, plan.source) is None:
        return
    async with engine.connect() as connection, _alembic_alone():
        await connection.run_sync(lambda sync: act(MigrationRun(sync, plan.role, plan.limits, plan.source)))


def _upgrade(run: MigrationRun) -> None:
    found, known = read_revision(run.connection, run.role), newest_revision(run.role, run.source)
    run.connection.rollback()
    if found is not None and known is not None and found > known:
        refuse_other_revision(run.role, found=found, known=known)
    command.upgrade(alembic_config(run), "head")


@asynccontextmanager
async def _alembic_alone() -> AsyncIterator[None]:
    """Hold Alembic, whose operations act on one connection of the whole process, whatever task or thread calls them."""
    while not _ALEMBIC.acquire(blocking=False):  # noqa: ASYNC110 - threads share it too, and have no common event
        await asyncio.sleep(TURN_POLL_SECONDS)
    try:
        yield
    finally:
        _ALEMBIC.release()


@asynccontextmanager
async def _turn(options: DatabaseOptions, role: DatabaseRole, limits: MigrationLimits) -> AsyncIterator[AsyncEngine]:
    """Hold the right to migrate the role's database for as long as the block runs.

    The right is a lock of a transaction on a connection of its own, so whatever happens to this process, nothing
    is left locked. It is asked for again and again, never waited for: a statement that waits holds a snapshot, and
    CREATE INDEX CONCURRENTLY in the process whose turn it is would wait for that snapshot in turn. One right for all
    roles of a database, since it waits for the whole transaction of whoever had a snapshot as it looked: two who held
    a role each, and made an index each, would wait for each other.
    """
    async with migration_engine(options, role, limits) as engine, engine.connect() as holder:
        try:
            async with asyncio.timeout(limits.turn_timeout.total_seconds()):
                while not await _took_turn(holder):  # noqa: ASYNC110 - another process has it, no event tells
                    await asyncio.sleep(TURN_POLL_SECONDS)
        except TimeoutError as error:
            why = f"another process has been migrating the database of {role} for longer than turn_timeout"
            raise Unavailable(why) from error
        yield engine
        await holder.rollback()


async def _took_turn(holder: AsyncConnection) -> bool:
    """Return whether the lock is held now; where it is not, no transaction is left open."""
    # Other users of advisory locks choose their own first key.
    keys = {"first": crc32(b"headrace.migrations") - 2**31, "second": 0}
    if not await holder.scalar(text("SELECT pg_try_advisory_xact_lock(:first, :second)"), keys):
        await holder.rollback()
        return False
    # The server keeps the snapshot of a query until the session's next statement, and an index that is made
    # concurrently would wait for it. SET takes none.
    await holder.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    return True


@asynccontextmanager
async def migration_engine(
    options: DatabaseOptions, role: DatabaseRole, limits: MigrationLimits = DEFAULT_LIMITS
) -> AsyncIterator[AsyncEngine]:
    """Lend an engine of the migration login that keeps no connections; a driver's errors become the object model's.

    Raises:
        PreconditionFailed: There is no migration login.
        Unavailable: The database refused for now, or went away.
    """
    url = options.urls.get((role, Login.MIGRATION))
    if url is None:
        raise PreconditionFailed("database_migration_password is not set: migrations need the migration login")
    engine = create_async_engine(url, poolclass=NullPool, connect_args=_connect_args(options, limits))
    try:
        yield engine
    except PlatformException:
        raise
    except Exception as error:
        if (known := translated(error)) is not None:
            raise known from error
        raise
    finally:
        await engine.dispose()


def _connect_args(options: DatabaseOptions, limits: MigrationLimits) -> dict[str, object]:
    unnamed = {"statement_cache_size": 0, "prepared_statement_cache_size": 0}
    arguments = unnamed | {
        "timeout": options.limits.connect_timeout.total_seconds(),
        "prepared_statement_name_func": lambda: f"__headrace_{uuid4().hex}__",
    }
    if options.transaction_pooler:
        return arguments
    # Statements outside of a transaction have these; building an index concurrently waits for old snapshots as
    # if for locks, so there only the statement's own timeout bounds it.
    settings = {"application_name": "headrace/migrate", "statement_timeout": limits.settings()["statement_timeout"]}
    return arguments | {"server_settings": settings}


def _prepare_schema(connection: Connection, role: DatabaseRole, limits: MigrationLimits) -> None:
    """Make the schema and its version table, once; both logins may read which revision it is at."""
    set_locally(connection, limits)
    if connection.scalar(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": f"{role}.alembic_version"}):
        return
    _refuse_missing_logins(connection)
    readers = f"{LOGIN_NAMES[Login.RUNTIME]}, {LOGIN_NAMES[Login.SYSTEM]}"
    if not connection.scalar(text("SELECT true FROM pg_namespace WHERE nspname = :name"), {"name": str(role)}):
        connection.execute(text(f"CREATE SCHEMA {role}"))
    connection.execute(text(f"GRANT USAGE ON SCHEMA {role} TO {readers}"))
    connection.execute(
        text(
            f"CREATE TABLE {role}.alembic_version"
            " (version_num varchar(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text(f"GRANT SELECT ON {role}.alembic_version TO {readers}"))


def _refuse_missing_logins(connection: Connection) -> None:
    names = list(LOGIN_NAMES.values())
    found = connection.scalars(text("SELECT rolname FROM pg_roles WHERE rolname = ANY(:names)"), {"names": names})
    if missing := sorted(set(names) - set(found)):
        raise PreconditionFailed(f"the logins {', '.join(missing)} do not exist on this server: create them first")


async def _revision_of(engine: AsyncEngine, role: DatabaseRole) -> str | None:
    async with engine.connect() as connection:
        return await connection.run_sync(read_revision, role)
