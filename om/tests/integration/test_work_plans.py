"""The queue's hot statements touch a bounded number of buffers, however many rows are settled, due later or others'.

Buffers and not time: the count is the same on a slow machine.
"""

from datetime import timedelta
from typing import Any, Final

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.storage.database import Database
from headrace.om.work import rules
from headrace.om.work.storage.impl import ending_statements as ending
from headrace.om.work.storage.impl import filtered_statements as filtered
from headrace.om.work.storage.impl import statements as sql
from headrace.om.work.storage.impl.claim_statements import claim_statement
from headrace.om.work.storage.impl.item_columns import insert_columns
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from headrace.om.work.storage.impl.postgres_settling import settle_columns
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_bundles import FOLLOW_UP, a_bundle, items_of
from om.tests.contracts.work_items import KINDS, LANE, LEASE, a_work_item
from om.tests.integration.buffers import buffers_of

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]

NUM_ROWS: Final = 20_000
NUM_ORGS: Final = 500
NUM_DUE: Final = 300
BUFFERS_PER_ITEM: Final = 30
BUFFERS_TO_FIND_NOTHING: Final = 60

FILL: Final = """
INSERT INTO queue.work_items (org_id, id, kind, lane, origin, payload, priority, available_at, status, max_attempts,
    settled_at, created_at, created_by, updated_at, updated_by, turn)
SELECT md5((n % $1)::text)::uuid, gen_random_uuid(), $2, $3, 'plans', '{}', n % 3, now() + $4::interval, $5, 3,
    CASE WHEN $5 = 'done' THEN now() END, now(), $6, now(), $6,
    CASE WHEN $5 = 'queued' AND $4::interval < '0s' THEN md5((n % $1)::text)::uuid END
FROM generate_series(1, $7::int) AS n
"""


@pytest.fixture
async def crowded(database: Database, admin_connection: asyncpg.Connection) -> Database:
    """Many rows that a claim must not pay for, and a few hundred that are due."""

    async def fill(kind: str, lane: str, due_in: timedelta, status: str, num_rows: int) -> None:
        await admin_connection.execute(FILL, NUM_ORGS, kind, lane, due_in, status, EMPTY_UUID, num_rows, timeout=120)

    await fill("NOOP", LANE, timedelta(hours=-2), "done", NUM_ROWS)
    await fill("NOOP", LANE, timedelta(hours=9), "queued", NUM_ROWS)
    await fill("NOOP", "other", timedelta(hours=-9), "queued", NUM_ROWS)
    await fill("DELIVER_WEBHOOK", LANE, timedelta(hours=-9), "queued", NUM_ROWS)
    await fill("NOOP", LANE, timedelta(minutes=-1), "queued", NUM_DUE)
    await admin_connection.execute("VACUUM ANALYZE queue.work_items", timeout=120)
    return database


def a_claim(limit: int) -> tuple[Any, ...]:
    """The claim of up to so many items, and its parameters."""
    names = [kind.value for kind in KINDS]
    return claim_statement(limit, len(names)), LANE, names, "worker-1", LEASE, EMPTY_UUID, limit


@pytest.mark.parametrize("limit", [1, 10, 100])
async def test_a_claim_pays_for_what_it_takes(crowded: Database, limit: int) -> None:
    touched = await buffers_of(crowded, *a_claim(limit))
    assert touched <= BUFFERS_TO_FIND_NOTHING + BUFFERS_PER_ITEM * limit


async def test_a_claim_in_a_lane_where_all_is_due_later_pays_nearly_nothing(crowded: Database) -> None:
    storage = WorkStoragePostgresImpl(crowded)
    assert len(await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 1000)) == NUM_DUE
    # The first to pass the entries of the rows just claimed marks them dead; whoever comes after skips them.
    assert await storage.claim_next(LANE, KINDS, "worker-1", LEASE) is None
    touched = await buffers_of(crowded, *a_claim(100))
    assert touched <= BUFFERS_TO_FIND_NOTHING


async def test_a_claim_looks_at_no_priorities_below_those_it_takes_from(
    database: Database, admin_connection: asyncpg.Connection
) -> None:
    await WorkStoragePostgresImpl(database).create_items(
        new_id(), [a_work_item(priority=priority) for priority in range(-2000, 2000)]
    )
    await admin_connection.execute("VACUUM ANALYZE queue.work_items", timeout=120)
    touched = await buffers_of(database, *a_claim(10))
    assert touched <= BUFFERS_TO_FIND_NOTHING + 10 * BUFFERS_PER_ITEM


async def test_settling_and_renewing_pay_for_their_own_rows(crowded: Database) -> None:
    storage = WorkStoragePostgresImpl(crowded)
    rows = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 50)
    claims = ([row.org_id for row in rows], [row.item.id for row in rows], [row.item.claim_token for row in rows])
    assert await buffers_of(crowded, sql.EXTEND_LEASES, *claims, LEASE) <= 50 * BUFFERS_PER_ITEM
    ends = settle_columns([(row.org_id, rules.done(row.item, None)) for row in rows])
    assert await buffers_of(crowded, ending.SETTLE_BATCH, *ends) <= 50 * BUFFERS_PER_ITEM


async def test_settling_in_a_bundle_pays_for_its_own_rows_and_bundles(crowded: Database) -> None:
    storage, org_id = WorkStoragePostgresImpl(crowded), new_id()
    for _ in range(50):
        bundle = a_bundle(40, on_settled=FOLLOW_UP)
        await storage.create_bundle(org_id, bundle, items_of(bundle, priority=9))
    rows = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 50)
    columns = settle_columns([(row.org_id, rules.done(row.item, None)) for row in rows])
    touched = await buffers_of(crowded, ending.SETTLE_COUNTED, *columns, [], *insert_columns([], fair_share=True))
    assert touched <= 50 * BUFFERS_PER_ITEM


@pytest.mark.parametrize(
    "where", [WorkFilter(status=WorkStatus.FAILED), WorkFilter(bundle_id=new_id())], ids=["status", "bundle"]
)
async def test_looking_for_few_items_pays_for_those(
    database: Database, admin_connection: asyncpg.Connection, where: WorkFilter
) -> None:
    settled = ("NOOP", LANE, timedelta(0), "done", EMPTY_UUID, NUM_ROWS)
    await admin_connection.execute(FILL, 1, *settled, timeout=120)
    await admin_connection.execute("VACUUM ANALYZE queue.work_items", timeout=120)
    org_id = await admin_connection.fetchval("SELECT org_id FROM queue.work_items LIMIT 1")
    stmt = filtered.read_items(filtered.given(where), where.status)
    touched = await buffers_of(database, stmt, org_id, 100, None, *filtered.values(where))
    assert touched <= BUFFERS_TO_FIND_NOTHING


async def test_looking_for_stale_claims_pays_for_stale_ones(crowded: Database) -> None:
    org_id = new_id()
    storage = WorkStoragePostgresImpl(crowded)
    await storage.create_item(org_id, a_work_item(priority=9))
    await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 100)
    assert await buffers_of(crowded, sql.READ_STALE_ORGS, 100) <= BUFFERS_TO_FIND_NOTHING


async def test_looking_for_tenants_pays_for_tenants_and_not_for_their_items(crowded: Database) -> None:
    assert await buffers_of(crowded, sql.READ_ORGS, 10, EMPTY_UUID) <= 10 * BUFFERS_PER_ITEM
