"""The PostgreSQL storage of outbox rows keeps the contract, and so do rows that other transactions land."""

from datetime import timedelta
from typing import Any, Final

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.outbox.storage.impl import statements as sql
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl, outbox_insert
from headrace.om.storage.database import Database, DriverStatement
from headrace.om.storage.roles import DatabaseRole
from om.tests.contracts.outbox_storage import HOLD, ORG, outbox_row
from om.tests.integration.outbox_over_postgres import PLANT, OutboxOverPostgres

pytestmark = pytest.mark.servers

BURST: Final = """
INSERT INTO core.outbox_rows (org_id, id, kind, payload, actor_id, request_id, created_at, available_at, done_at)
SELECT md5((n % $1::int)::text)::uuid, gen_random_uuid(), 'entity.changed', '{}', $2, $2, now(), now() + $3::interval,
    CASE WHEN $4 THEN now() END
FROM generate_series(1, $5::int) AS n
"""
NUM_ORGS: Final = 50
BACKLOG: Final = (
    (NUM_ORGS, timedelta(hours=-9), True, 20_000),
    (NUM_ORGS, timedelta(hours=9), False, 20_000),
    (1, timedelta(hours=-1), False, 20_000),
)
"""Tenants, when their rows are due, whether they are done, and how many: one tenant has the burst."""

BUFFERS_PER_ROW: Final = 30
BUFFERS_PER_ORG: Final = 10


class TestOutboxStoragePostgres(OutboxOverPostgres):
    @pytest.fixture
    def storage(self, database: Database) -> OutboxStoragePostgresImpl:
        return OutboxStoragePostgresImpl(database)

    @pytest.mark.parametrize(
        ("payload", "created_at"),
        [
            ("[1]", "now"),
            ('"x"', "now"),
            ("null", "now"),
            ("{}", "-infinity"),
            ("{}", "infinity"),
            ("{}", "1969-12-31 00:00Z"),
            ("{}", "20000-01-01 00:00Z"),
            ("{}", "4000-01-01 BC"),
        ],
    )
    async def test_no_program_can_land_a_row_that_the_relay_cannot_read(
        self, admin_connection: asyncpg.Connection, payload: str, created_at: str
    ) -> None:
        with pytest.raises(asyncpg.CheckViolationError):
            await admin_connection.execute(PLANT, ORG, new_id(), payload, created_at)

    async def test_a_pass_pays_for_what_it_takes_and_for_the_tenants_that_wait(
        self, database: Database, admin_connection: asyncpg.Connection
    ) -> None:
        for num_orgs, due_in, is_done, num_rows in BACKLOG:
            values = (num_orgs, EMPTY_UUID, due_in, is_done, num_rows)
            await admin_connection.execute(BURST, *values, timeout=120)
        await admin_connection.execute("VACUUM ANALYZE core.outbox_rows", timeout=120)
        touched = await _buffers_of(database, sql.TAKE_PENDING, 100, HOLD, sql.MAX_ORGS)
        assert touched <= 100 * BUFFERS_PER_ROW + NUM_ORGS * BUFFERS_PER_ORG

    async def test_rows_land_when_the_transaction_commits(
        self, storage: OutboxStoragePostgresImpl, database: Database
    ) -> None:
        row = outbox_row()
        async with database.session_for(DatabaseRole.CORE, org_id=ORG) as session:
            await outbox_insert(session, ORG, [row, outbox_row()])
            await outbox_insert(session, ORG, [row])
            await outbox_insert(session, ORG, [])
            assert await storage.take_pending(10, HOLD) == ()
        assert len(await storage.take_pending(10, HOLD)) == 2

    async def test_nothing_lands_when_the_transaction_rolls_back(
        self, storage: OutboxStoragePostgresImpl, database: Database
    ) -> None:
        async with database.session_for(DatabaseRole.CORE, org_id=ORG) as session:
            await outbox_insert(session, ORG, [outbox_row()])
            await session.rollback()
        assert (await storage.read_gauges()).num_pending == 0


async def _buffers_of(database: Database, stmt: DriverStatement, *args: Any) -> int:  # noqa: ANN401 - any parameter
    explained = DriverStatement(stmt.name, stmt.role, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {stmt.sql}")
    async with database.driver_for(explained, org_id=EMPTY_UUID) as connection:
        ((explanation,),) = await connection.fetch(explained.sql, *args)
    plan = explanation[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
