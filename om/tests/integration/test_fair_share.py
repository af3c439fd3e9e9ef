"""One org's hundred thousand items do not keep another's one from its turn."""

from typing import Final
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import new_id
from headrace.om.storage.database import Database
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from headrace.om.work.types.control import LimitScope, WorkLimit
from om.tests.contracts.work_items import KINDS, LANE, LEASE, a_work_item

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]

NUM_ITEMS: Final = 100_000

FILL: Final = """
INSERT INTO queue.work_items (org_id, id, kind, lane, origin, payload, priority, available_at, status, max_attempts,
    created_at, created_by, updated_at, updated_by, turn)
SELECT $1::uuid, gen_random_uuid(), 'NOOP', $2, 'much', '{}', 9, now() - interval '1 hour', 'queued', 3,
    now(), $1, now(), $1, CASE WHEN $3 THEN $1 ELSE '00000000-0000-0000-0000-000000000000' END
FROM generate_series(1, $4::int) AS n
"""


async def fill(connection: asyncpg.Connection, org_id: UUID, *, fair: bool) -> None:
    await connection.execute(FILL, org_id, LANE, fair, NUM_ITEMS, timeout=100)


@pytest.mark.parametrize("limit", [1, 10])
async def test_an_orgs_one_item_begins_within_two_claims_of_a_free_slot(
    database: Database, admin_connection: asyncpg.Connection, limit: int
) -> None:
    storage, much, few = WorkStoragePostgresImpl(database), new_id(), new_id()
    await fill(admin_connection, much, fair=True)
    for _ in range(3):
        assert len(await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, limit)) == limit
    one = a_work_item(priority=-9)
    await storage.create_item(few, one)
    claims = [await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, limit) for _ in range(2)]
    assert one.id in {row.item.id for rows in claims for row in rows}
    assert all(len(rows) == limit for rows in claims)


async def test_it_waits_behind_all_of_them_where_fair_share_is_off(
    database: Database, admin_connection: asyncpg.Connection
) -> None:
    storage = WorkStoragePostgresImpl(database, fair_share=False)
    await fill(admin_connection, new_id(), fair=False)
    one = a_work_item(priority=-9)
    await storage.create_item(new_id(), one)
    for _ in range(3):
        rows = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 1000)
        assert one.id not in {row.item.id for row in rows}


@pytest.mark.parametrize("is_bounded", [False, True])
async def test_an_item_that_somebody_has_locked_hides_no_other_orgs(
    database: Database,
    admin_connection: asyncpg.Connection,
    is_bounded: bool,  # noqa: FBT001 - a table's column
) -> None:
    storage, first, second = WorkStoragePostgresImpl(database), new_id(), new_id()
    locked, free = a_work_item(), a_work_item()
    await storage.create_item(first, locked)
    await storage.create_item(second, free)
    if is_bounded:
        await storage.put_control(WorkLimit(scope=LimitScope.ORG, max_running=1), "tests")
    async with admin_connection.transaction():
        await admin_connection.execute("SELECT FROM queue.work_items WHERE id = $1 FOR UPDATE", locked.id)
        claimed = await storage.claim_next(LANE, KINDS, "worker-1", LEASE)
    assert claimed is not None
    assert claimed.item.id == free.id
