"""The engines and their funnel against a real server: scopes, cancels, bounds, errors and recovery."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import func, select, text

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import Conflict, PreconditionFailed, Unavailable, ValidationFailed
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database, DriverConnection, DriverStatement, Purpose, retried
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.options import database_options as options_of
from headrace.om.storage.roles import DatabaseRole
from infra.tests.contracts.eventually import eventually
from om.tests.contracts.outbox_storage import ORG, OTHER, outbox_row
from tests.fixtures.database import migrated_database, settings_for
from tests.fixtures.servers import StartPostgres

pytestmark = pytest.mark.servers

CORE = DatabaseRole.CORE
TENANT = text("SELECT current_setting('app.org_id', true)")
STATE = DriverStatement("state", CORE, "SELECT current_setting('app.org_id', true) AS tenant")
NAMING = DriverStatement("naming", CORE, f"SELECT set_config('app.org_id', '{ORG}', true) AS tenant", names_tenant=True)
MINE = "datname = current_database() AND usename = 'headrace_runtime'"
NUM_CANCELS = 60
SOON = timedelta(milliseconds=200)


@asynccontextmanager
async def opened(options: DatabaseOptions, **limits: object) -> AsyncIterator[Database]:
    database = Database(replace(options, limits=replace(options.limits, **limits)))  # type: ignore[arg-type]  # named by each test
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def held(database: Database) -> AsyncIterator[None]:
    """Holds a connection, which a session takes with its first statement."""
    async with database.session_for(CORE) as session:
        await session.execute(TENANT)
        yield


async def tenant_seen(database: Database, org_id: UUID | None, purpose: Purpose = Purpose.MAIN) -> str | None:
    async with database.session_for(CORE, org_id=org_id, purpose=purpose) as session:
        seen: str | None = await session.scalar(TENANT)
        return seen


async def test_the_session_names_its_tenant_for_its_transaction_alone(database_options: DatabaseOptions) -> None:
    async with opened(database_options, pool_size=1) as database:
        assert await tenant_seen(database, ORG) == str(ORG)
        assert await tenant_seen(database, None) in {None, ""}
        assert await tenant_seen(database, OTHER) == str(OTHER)


@pytest.mark.parametrize(("stmt", "org_id"), [(STATE, ORG), (STATE, EMPTY_UUID), (NAMING, ORG)])
async def test_the_driver_names_its_tenant_for_its_statement_alone(
    database_options: DatabaseOptions, stmt: DriverStatement, org_id: UUID
) -> None:
    async with opened(database_options, pool_size=1) as database:
        async with database.driver_for(stmt, org_id=org_id) as connection:
            assert (await connection.fetch(stmt.sql))[0]["tenant"] == str(org_id)
        assert await tenant_seen(database, None) in {None, ""}


async def test_the_login_is_the_scopes(database: Database) -> None:
    who = select(func.current_user())
    async with database.session_for(CORE, org_id=EMPTY_UUID) as session:
        assert await session.scalar(who) == "headrace_system"
    async with database.session_for(CORE, org_id=ORG) as session:
        assert await session.scalar(who) == "headrace_runtime"


async def test_nothing_is_seen_when_no_tenant_is_named(database: Database) -> None:
    await OutboxStoragePostgresImpl(database).create_row(ORG, outbox_row())
    async with database.session_for(CORE) as session:
        assert await session.scalar(text("SELECT count(*) FROM core.outbox_rows")) == 0


async def test_a_write_is_committed_at_the_end_and_rolled_back_on_an_error(database: Database) -> None:
    storage = OutboxStoragePostgresImpl(database)
    row = outbox_row()
    await storage.create_row(ORG, row)
    with pytest.raises(KeyError):
        await _delete_and_raise(database)
    assert (await storage.read_gauges()).num_pending == 1


async def _delete_and_raise(database: Database) -> None:
    async with database.session_for(CORE, org_id=ORG) as session:
        await session.execute(text("DELETE FROM core.outbox_rows"))
        raise KeyError("the caller's own")


@pytest.mark.parametrize("org_id", [ORG, EMPTY_UUID])
async def test_a_driver_statement_is_committed_at_the_end_and_a_tenants_is_rolled_back_on_an_error(
    database: Database, org_id: UUID
) -> None:
    delete = DriverStatement("delete", CORE, "DELETE FROM core.outbox_rows RETURNING id")
    storage = OutboxStoragePostgresImpl(database)
    await storage.create_row(ORG, outbox_row())
    async with database.driver_for(delete, org_id=org_id) as connection:
        assert len(await connection.fetch(delete.sql)) == 1
    assert (await storage.read_gauges()).num_pending == 0


async def test_a_tenants_driver_statement_is_rolled_back_when_the_caller_raises(database: Database) -> None:
    storage = OutboxStoragePostgresImpl(database)
    await storage.create_row(ORG, outbox_row())
    delete = DriverStatement("delete", CORE, "DELETE FROM core.outbox_rows")
    with pytest.raises(KeyError):
        async with database.driver_for(delete, org_id=ORG) as connection:
            await _fetch_and_raise(connection, delete)
    assert (await storage.read_gauges()).num_pending == 1


async def _fetch_and_raise(connection: DriverConnection, statement: DriverStatement) -> None:
    await connection.fetch(statement.sql)
    raise KeyError("the caller's own")


@pytest.mark.parametrize("through", ["session", "driver"])
async def test_the_next_borrower_sees_no_tenant_wherever_a_cancel_lands(
    database_options: DatabaseOptions, through: str
) -> None:
    async with opened(database_options, pool_size=1, pool_timeout=timedelta(seconds=10)) as database:
        run = _slow_session if through == "session" else _slow_driver
        for steps in range(NUM_CANCELS):
            await _cancel_after(steps, run(database))
            assert await _state_of_the_next(database) == ("", "active", 0)


async def _slow_session(database: Database) -> None:
    async with database.session_for(CORE, org_id=ORG) as session:
        await session.execute(text("SELECT pg_sleep(0.002)"))
        await session.execute(TENANT)


async def _slow_driver(database: Database) -> None:
    async with database.driver_for(STATE, org_id=ORG) as connection:
        await connection.fetch("SELECT pg_sleep(0.002)")
        await connection.fetch("SELECT current_setting('app.org_id', true)")


async def _cancel_after(steps: int, run: Coroutine[object, object, None]) -> None:
    """Cancel after so many turns of the event loop, each of which waits for the server's next words at most."""
    task = asyncio.create_task(run)
    for _ in range(steps):
        await asyncio.sleep(0 if steps % 2 else 0.0005)  # not to synchronise: to land at another place each time
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _state_of_the_next(database: Database) -> tuple[str, str, int]:
    """What the next borrower of the only connection finds: a tenant, an older transaction, a lock?"""
    async with database.session_for(CORE) as session:
        found = await session.execute(
            text(
                "SELECT coalesce(current_setting('app.org_id', true), '') AS tenant, state,"
                " (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')::int AS locks"
                " FROM pg_stat_activity WHERE pid = pg_backend_pid()"
            )
        )
        tenant, state, num_locks = found.one()
        return str(tenant), str(state), int(num_locks)


async def test_no_transaction_stays_open_when_its_opening_is_refused(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection
) -> None:
    # BEGIN succeeds; the bound that follows it in the same round trip is more milliseconds than the server can count.
    pooled = replace(database_options, transaction_pooler=True)
    async with opened(pooled, pool_size=1, statement_timeout=timedelta(days=30)) as database:
        for _ in range(2):
            with pytest.raises(ValidationFailed, match="SQLSTATE 22023"):
                await _slow_driver(database)
        await _until(admin_connection, "state <> 'idle'", 0)


async def test_no_transaction_stays_open_when_statements_are_cancelled(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection
) -> None:
    async with opened(database_options) as database:
        tasks = [asyncio.create_task(_sleep_long(database)) for _ in range(database_options.limits.pool_size)]
        await _until(admin_connection, "state = 'active' AND query LIKE '%pg_sleep(30)%'", len(tasks))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _until(admin_connection, "state <> 'idle'", 0)
        assert await tenant_seen(database, ORG) == str(ORG)


async def _sleep_long(database: Database) -> None:
    async with database.session_for(CORE, org_id=ORG) as session:
        await session.execute(text("SELECT pg_sleep(30)"))


async def _until(admin: asyncpg.Connection, condition: str, count: int) -> None:
    """Wait until so many sessions of the runtime login are in a state."""
    query = f"SELECT count(*) FROM pg_stat_activity WHERE {MINE} AND {condition}"  # noqa: S608 - the tests' own conditions

    async def holds() -> bool:
        return bool(await admin.fetchval(query) == count)

    await eventually(holds)


async def test_unavailable_says_which_setting_when_no_connection_becomes_free(
    database_options: DatabaseOptions,
) -> None:
    async with opened(database_options, pool_size=1, pool_timeout=SOON) as database, held(database):
        with pytest.raises(Unavailable, match="database_pool_timeout"):
            await tenant_seen(database, ORG)


async def test_control_statements_have_connections_when_handlers_hold_all_others(
    database_options: DatabaseOptions,
) -> None:
    async with opened(database_options, pool_size=1, pool_timeout=SOON) as database, held(database):
        assert await tenant_seen(database, ORG, Purpose.CONTROL) == str(ORG)


@pytest.mark.parametrize("org_id", [ORG, EMPTY_UUID])
async def test_who_waits_for_a_connection_has_the_next_one(database_options: DatabaseOptions, org_id: UUID) -> None:
    order = list[str]()

    async def work(name: str) -> None:
        for _ in range(5):
            async with database.driver_for(STATE, org_id=org_id) as connection:
                order.append(name)
                await connection.fetch(STATE.sql)

    async with opened(database_options, pool_size=1) as database:
        await asyncio.gather(work("a"), work("b"))
    assert order == ["a", "b"] * 5


async def test_a_locked_table_is_unavailable_within_the_lock_timeout_and_usable_afterwards(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection
) -> None:
    async with opened(database_options, lock_timeout=SOON, statement_timeout=timedelta(minutes=5)) as database:
        storage = OutboxStoragePostgresImpl(database)
        async with admin_connection.transaction():
            await admin_connection.execute("LOCK TABLE core.outbox_rows IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(Unavailable, match="55P03"):
                await storage.create_row(ORG, outbox_row())
        await storage.create_row(ORG, outbox_row())
        assert (await storage.read_gauges()).num_pending == 1


@pytest.mark.parametrize("org_id", [ORG, EMPTY_UUID])
async def test_a_statement_is_ended_by_the_statement_timeout_on_both_logins(
    database_options: DatabaseOptions, org_id: UUID
) -> None:
    async with opened(database_options, statement_timeout=SOON) as database:
        with pytest.raises(Unavailable, match="57014"):
            async with database.session_for(CORE, org_id=org_id) as session:
                await session.execute(text("SELECT pg_sleep(30)"))
        assert await tenant_seen(database, org_id) == str(org_id)


async def test_an_idle_transaction_is_ended_by_its_timeout(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection
) -> None:
    async with opened(database_options, idle_in_transaction_timeout=SOON) as database:
        with pytest.raises(Unavailable):
            await _idle_in_transaction(database, admin_connection)
        assert await tenant_seen(database, ORG) == str(ORG)


async def _idle_in_transaction(database: Database, admin: asyncpg.Connection) -> None:
    async with database.session_for(CORE, org_id=ORG) as session:
        await session.execute(TENANT)
        await _until(admin, "state LIKE 'idle in transaction%'", 0)
        await session.execute(TENANT)


@pytest.mark.parametrize("statement", ["SELECT 1 / 0", "SELECT 'no number'::text::int", "SELECT ('{' || '')::jsonb"])
async def test_a_value_that_cannot_be_is_permanent(database: Database, statement: str) -> None:
    with pytest.raises(ValidationFailed, match="SQLSTATE 22") as raised:
        async with database.session_for(CORE, org_id=ORG) as session:
            await session.execute(text(statement))
    assert not raised.value.retryable


async def test_a_value_that_the_driver_refuses_is_permanent(database: Database) -> None:
    with pytest.raises(ValidationFailed, match="SQLSTATE 22"):
        async with database.session_for(CORE, org_id=ORG) as session:
            await session.scalar(text("SELECT CAST(:large AS integer)"), {"large": 2**40})


async def test_a_broken_rule_is_a_conflict(database: Database) -> None:
    row = outbox_row()
    await OutboxStoragePostgresImpl(database).create_row(ORG, row)
    with pytest.raises(Conflict, match="SQLSTATE 23505"):
        async with database.session_for(CORE, org_id=ORG) as session:
            await session.execute(text("INSERT INTO core.outbox_rows SELECT * FROM core.outbox_rows"))


async def test_a_deadlock_is_unavailable_for_one_and_both_succeed_when_tried_again(database: Database) -> None:
    storage = OutboxStoragePostgresImpl(database)
    rows = [outbox_row(), outbox_row()]
    for row in rows:
        await storage.create_row(ORG, row)
    met = asyncio.Barrier(2)
    is_first = {True: True, False: True}

    async def touch(*, backwards: bool) -> None:
        async with database.session_for(CORE, org_id=ORG) as session:
            for row in reversed(rows) if backwards else rows:
                lock = text("SELECT 1 FROM core.outbox_rows WHERE id = :id FOR UPDATE")
                await session.execute(lock, {"id": row.id})
                if is_first[backwards]:
                    is_first[backwards] = False
                    await met.wait()

    await asyncio.gather(retried(lambda: touch(backwards=True)), retried(lambda: touch(backwards=False)))


async def test_a_process_goes_on_when_the_server_was_restarted(start_postgres: StartPostgres) -> None:
    server = start_postgres()
    options = options_of(settings_for(migrated_database(server)))
    async with opened(options, pool_size=1) as database:
        assert await tenant_seen(database, ORG) == str(ORG)
        await asyncio.to_thread(server.stop)
        with pytest.raises(Unavailable):
            await tenant_seen(database, ORG)
        with pytest.raises(Unavailable):
            await tenant_seen(database, ORG)
        await asyncio.to_thread(server.start)
        assert await tenant_seen(database, ORG) == str(ORG)


@pytest.mark.parametrize("through", ["session", "driver"])
async def test_at_most_one_call_fails_when_the_backend_was_ended_meanwhile(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection, through: str
) -> None:
    async with opened(database_options, pool_size=1) as database:
        assert await tenant_seen(database, ORG) == str(ORG)
        await admin_connection.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {MINE}"  # noqa: S608 - a constant
        )
        await _until(admin_connection, "true", 0)
        # None fails where the driver has seen the end before the checkout asks it.
        with suppress(Unavailable):
            await (tenant_seen(database, ORG) if through == "session" else _slow_driver(database))
        assert await tenant_seen(database, ORG) == str(ORG)


async def test_a_connection_is_replaced_when_it_is_too_old(database_options: DatabaseOptions) -> None:
    async with opened(database_options, pool_size=1, connection_max_age=timedelta(0)) as database:
        pids = {await _pid(database) for _ in range(3)}
        assert len(pids) == 3


async def _pid(database: Database) -> int:
    async with database.session_for(CORE, org_id=ORG) as session:
        return int(await session.scalar(text("SELECT pg_backend_pid()")) or 0)


async def test_every_connection_is_gone_for_good_when_closed_twice(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection
) -> None:
    database = Database(database_options)
    await tenant_seen(database, ORG)
    await tenant_seen(database, ORG, Purpose.CONTROL)
    await database.close()
    await database.close()
    await _until(admin_connection, "true", 0)
    with pytest.raises(PreconditionFailed, match="closed"):
        await tenant_seen(database, ORG)
