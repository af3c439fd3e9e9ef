"""The work storage's contract over PostgreSQL."""

import asyncpg
import pytest

from headrace.om.base import new_id
from headrace.om.storage.database import Database
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from om.tests.contracts.work_items import a_work_item, claim_one
from om.tests.contracts.work_storage import WorkStorageContract

pytestmark = pytest.mark.servers


class TestWorkStoragePostgres(WorkStorageContract):
    @pytest.fixture
    def storage(self, database: Database) -> WorkStorageInterface:
        return WorkStoragePostgresImpl(database)

    @pytest.fixture
    def unfair(self, database: Database) -> WorkStorageInterface:
        return WorkStoragePostgresImpl(database, fair_share=False)


@pytest.mark.parametrize("lost", ["claim_token", "lease_expires_at", "status = 'queued', updated_at"])
async def test_no_row_is_claimed_without_token_and_lease(
    database: Database, admin_connection: asyncpg.Connection, lost: str
) -> None:
    storage = WorkStoragePostgresImpl(database)
    await storage.create_item(new_id(), a_work_item())
    await claim_one(storage)
    value = "now()" if "=" in lost else "NULL"
    with pytest.raises(asyncpg.CheckViolationError, match="work_items_claim_whole"):
        await admin_connection.execute(f"UPDATE queue.work_items SET {lost} = {value}")  # noqa: S608 - of this test
