"""Storage works behind a transaction pooler, where the next statement may meet another server session."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import text

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import Unavailable
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database, DriverStatement
from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.om.storage.revisions import refuse_newer_schema
from headrace.om.storage.roles import DatabaseRole
from headrace.om.storage.settings import StorageSettings
from om.tests.contracts.outbox_storage import ORG, OTHER, outbox_row
from om.tests.integration.outbox_over_postgres import OutboxOverPostgres

pytestmark = [pytest.mark.servers, pytest.mark.pooler]

CORE = DatabaseRole.CORE
STATE = DriverStatement("state", CORE, "SELECT current_setting('app.org_id', true) AS tenant, pg_backend_pid() AS pid")


class TestOutboxStorageBehindPooler(OutboxOverPostgres):
    @pytest.fixture
    def storage(self, pooled_database: Database) -> OutboxStoragePostgresImpl:
        return OutboxStoragePostgresImpl(pooled_database)


async def _tenant_and_session(database: Database, org_id: UUID) -> tuple[str, int]:
    async with database.driver_for(STATE, org_id=org_id) as connection:
        row = (await connection.fetch(STATE.sql))[0]
        return row["tenant"], row["pid"]


async def test_every_transaction_has_its_own_tenant_whichever_session_it_meets(pooled_database: Database) -> None:
    tenants = [ORG, OTHER, EMPTY_UUID] * 20
    seen = await asyncio.gather(*(_tenant_and_session(pooled_database, org_id) for org_id in tenants))
    assert [tenant for tenant, _ in seen] == [str(org_id) for org_id in tenants]
    assert len({pid for _, pid in seen}) <= 4, "two sessions for each of the two logins"


async def test_no_tenant_is_left_behind_for_a_client_that_names_none(pooled_database: Database) -> None:
    await OutboxStoragePostgresImpl(pooled_database).create_row(ORG, outbox_row())
    async with pooled_database.session_for(CORE) as session:
        assert await session.scalar(text("SELECT count(*) FROM core.outbox_rows")) == 0


async def test_statements_keep_their_bounds(pooled_settings: StorageSettings) -> None:
    short = pooled_settings.model_copy(update={"database_statement_timeout": timedelta(milliseconds=200)})
    database = Database(database_options(short))
    try:
        with pytest.raises(Unavailable, match="57014"):
            async with database.session_for(CORE, org_id=ORG) as session:
                await session.execute(text("SELECT pg_sleep(30)"))
    finally:
        await database.close()


async def test_migrating_finds_nothing_to_do_and_a_process_may_start(
    pooled_settings: StorageSettings, pooled_database: Database, admin_connection: asyncpg.Connection
) -> None:
    await migrate(database_options(pooled_settings))
    await refuse_newer_schema(pooled_database)
    assert await admin_connection.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
