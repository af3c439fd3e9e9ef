"""The gate of claims that are bounded: who is in it, who looked before the last one went through, who comes after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, override
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.exceptions import Unavailable
from headrace.om.storage.database import Database, DriverConnection, DriverStatement, Purpose
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.roles import Login
from headrace.om.work.storage.impl import postgres_claims
from headrace.om.work.storage.impl.gated_statements import GATE_LOCK, gated_statement
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from headrace.om.work.types.control import LimitScope, WorkLimit
from headrace.om.work.types.kinds import WorkKind
from headrace.tools.dev import LoginUrls
from om.tests.contracts.work_items import KINDS, LANE, LEASE, a_work_item

pytestmark = pytest.mark.servers

ONE: Final = WorkLimit(scope=LimitScope.KIND, kind=WorkKind.NOOP, max_running=1)


@pytest.fixture
async def storage(database: Database) -> WorkStoragePostgresImpl:
    """A queue with a few due items, of which one may run at a time."""
    opened = WorkStoragePostgresImpl(database)
    await opened.create_items(new_id(), [a_work_item() for _ in range(5)])
    await opened.put_control(ONE, "tests")
    return opened


@pytest.fixture
async def system(module_login_urls: LoginUrls) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(module_login_urls.url(Login.SYSTEM), timeout=10, command_timeout=20)
    yield connection
    await connection.close()


async def go_through(connection: asyncpg.Connection) -> tuple[str, list[UUID]]:
    """Send a claim through the gate; return what it found there, and what it took."""
    args: tuple[Any, ...] = (LANE, [kind.value for kind in KINDS], "worker-1", LEASE, EMPTY_UUID, 0, 5, 5)
    rows = await connection.fetch(gated_statement(10, len(KINDS)).sql, *args)
    return rows[0]["state"], [row["id"] for row in rows if row["id"] is not None]


async def test_a_claim_that_looked_before_the_last_one_went_through_takes_nothing(
    storage: WorkStoragePostgresImpl, system: asyncpg.Connection
) -> None:
    # A transaction that keeps the snapshot of its first statement stands for a statement that was slow to begin.
    async with system.transaction(isolation="repeatable_read"):
        await system.fetchval("SELECT count(*) FROM queue.work_items")
        assert len(await storage.claim_batch(LANE, KINDS, "worker-2", LEASE, 5)) == 1
        assert await go_through(system) == ("stale", [])


async def test_a_claim_that_looked_before_a_limit_was_changed_takes_nothing(
    storage: WorkStoragePostgresImpl, system: asyncpg.Connection
) -> None:
    await storage.put_control(ONE.model_copy(update={"max_running": 5}), "tests")
    async with system.transaction(isolation="repeatable_read"):
        await system.fetchval("SELECT count(*) FROM queue.work_items")
        await storage.put_control(ONE, "tests")
        assert await go_through(system) == ("stale", [])


async def test_a_claim_does_not_wait_for_the_gate_while_another_is_in_it(
    storage: WorkStoragePostgresImpl, system: asyncpg.Connection, admin_connection: asyncpg.Connection
) -> None:
    async with admin_connection.transaction():
        await admin_connection.execute(f"SELECT pg_advisory_xact_lock({GATE_LOCK})")
        assert await go_through(system) == ("busy", [])
        waiting = asyncio.create_task(storage.claim_batch(LANE, KINDS, "worker-2", LEASE, 5))
    assert len(await waiting) == 1


async def test_a_gate_that_stays_busy_makes_the_claim_unavailable(
    storage: WorkStoragePostgresImpl, admin_connection: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_claims, "GATE_PATIENCE", postgres_claims.GATE_REST)
    async with admin_connection.transaction():
        await admin_connection.execute(f"SELECT pg_advisory_xact_lock({GATE_LOCK})")
        with pytest.raises(Unavailable, match="gate"):
            await storage.claim_batch(LANE, KINDS, "worker-2", LEASE, 5)


@pytest.mark.usefixtures("storage")
async def test_the_gate_is_left_with_the_statement(
    system: asyncpg.Connection, admin_connection: asyncpg.Connection
) -> None:
    assert len((await go_through(system))[1]) == 1
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    assert await admin_connection.fetchval(held) == 0


@pytest.mark.usefixtures("storage")
async def test_a_mark_that_another_clusters_dump_brought_shuts_nobody_out(
    system: asyncpg.Connection, admin_connection: asyncpg.Connection
) -> None:
    await admin_connection.execute("SELECT setval('queue.work_gate', $1)", 2**62)
    state, taken = await go_through(system)
    assert (state, len(taken)) == ("open", 1)


@pytest.mark.usefixtures("storage")
async def test_a_claim_that_takes_nothing_leaves_no_mark(
    system: asyncpg.Connection, admin_connection: asyncpg.Connection
) -> None:
    await go_through(system)
    before = await admin_connection.fetchval("SELECT last_value FROM queue.work_gate")
    assert await go_through(system) == ("open", [])
    assert await admin_connection.fetchval("SELECT last_value FROM queue.work_gate") == before


class FailingDatabase(Database):
    """Refuses statements of one name, as a server that goes away between two statements does."""

    name = ""

    @asynccontextmanager
    @override
    async def driver_for(
        self, stmt: DriverStatement, *, org_id: UUID, purpose: Purpose = Purpose.MAIN
    ) -> AsyncIterator[DriverConnection]:
        if self.name and stmt.name.startswith(self.name):
            raise Unavailable("the test says so")
        async with super().driver_for(stmt, org_id=org_id, purpose=purpose) as connection:
            yield connection


@pytest.fixture
async def failing(database_options: DatabaseOptions) -> AsyncIterator[FailingDatabase]:
    opened = FailingDatabase(database_options)
    yield opened
    await opened.close()


@pytest.mark.parametrize("keys", [{}, {"concurrency_key": "k"}], ids=["plain", "through the gate"])
async def test_a_claim_keeps_what_it_took_when_a_later_statement_fails(
    failing: FailingDatabase, admin_connection: asyncpg.Connection, keys: dict[str, str]
) -> None:
    storage, org_id = WorkStoragePostgresImpl(failing), new_id()
    due, waiting = a_work_item(**keys), a_work_item()
    await storage.create_items(org_id, [due, waiting])
    # As an older release enqueues: without a turn.
    await admin_connection.execute("UPDATE queue.work_items SET turn = NULL WHERE id = $1", waiting.id)
    failing.name = "place_due"
    claimed = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 5)
    assert [row.item.id for row in claimed] == [due.id]
    with pytest.raises(Unavailable, match="the test says so"):
        await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 5)
    failing.name = ""
    claimed = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 5)
    assert [row.item.id for row in claimed] == [waiting.id]
