"""The PostgreSQL storage of outbox rows keeps the contract, and so do rows that other transactions land."""

from datetime import timedelta

import asyncpg
import pytest

from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl, outbox_insert
from headrace.om.storage.database import Database
from headrace.om.storage.roles import DatabaseRole
from om.tests.contracts.outbox_storage import HOLD, ORG, OutboxStorageContract, PassTime, outbox_row

pytestmark = pytest.mark.servers


class TestOutboxStoragePostgres(OutboxStorageContract):
    @pytest.fixture
    def storage(self, database: Database) -> OutboxStoragePostgresImpl:
        return OutboxStoragePostgresImpl(database)

    @pytest.fixture
    def pass_time(self, admin_connection: asyncpg.Connection) -> PassTime:
        async def pass_time(duration: timedelta) -> None:
            await admin_connection.execute(
                "UPDATE core.outbox_rows SET recorded_at = recorded_at - $1::interval,"
                " available_at = available_at - $1::interval, done_at = done_at - $1::interval",
                duration,
            )

        return pass_time

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
