"""A claim with every feature on touches a bounded number of buffers beside two million rows that are not its own.

A million settled rows and a million that are due later, of a thousand orgs, all in the lane and of the kind that is
claimed (`crowd`). Every case adds its own due rows and takes them away again.
"""

from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.database import Database
from headrace.om.storage.options import database_options
from headrace.om.work.storage.impl.claim_statements import SIZES, claim_statement
from headrace.om.work.storage.impl.gated_statements import MAX_LINES, gated_statement
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from headrace.om.work.types.control import LimitScope, WorkControl, WorkLimit, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from om.tests.contracts.work_items import KINDS, LANE, LEASE
from om.tests.integration.buffers import buffers_of
from om.tests.integration.crowd import FILL_DUE, NUM_ORGS, NUM_RUNNING, TIMEOUT_SECONDS, take_away
from tests.fixtures.database import login_urls_of, settings_for

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

DUE_OF_EACH: Final = 4
"""Due items of each org: two without a key, one of a concurrency key, one of an ordering key."""

BUFFERS_TO_FIND_NOTHING: Final = 60
BUFFERS_PER_ITEM: Final = 30
"""Of a claim that nothing bounds, an org for each item."""

BUFFERS_OF_THE_GATE: Final = 150
"""What is said about claims, and what runs."""
BUFFERS_PER_ITEM_THROUGH_THE_GATE: Final = 60
BUFFERS_PER_BLOCKED_LINE: Final = 12
NUM_BLOCKED_ORGS: Final = 105
"""Paused, or at their own limits; claims meet them first."""
BUFFERS_PER_BLOCKED_ORG: Final = 6

BLOCK_LINES: Final = """
INSERT INTO queue.work_items (org_id, id, kind, lane, origin, payload, priority, available_at, status, max_attempts,
    claim_token, lease_expires_at, started_at, created_at, created_by, updated_at, updated_by, turn, line, ordering_key)
SELECT $1::uuid, ('b' || lpad(to_hex(n * 2 + place), 31, '0'))::uuid, 'NOOP', $2, 'plans', '{}', 9,
    now() - interval '1 hour', CASE WHEN place = 0 THEN 'claimed' ELSE 'queued' END, 3,
    CASE WHEN place = 0 THEN gen_random_uuid() END, CASE WHEN place = 0 THEN now() + interval '1 hour' END,
    CASE WHEN place = 0 THEN now() END, now(), $1, now(), $1,
    CASE WHEN place = 1 THEN $1 END, n, 'line ' || n
FROM generate_series(1, $3::int) AS n CROSS JOIN generate_series(0, 1) AS place
"""

CONTROLS: Final[tuple[WorkControl, ...]] = (
    WorkLimit(scope=LimitScope.KIND, kind=WorkKind.NOOP, max_running=500),
    WorkLimit(scope=LimitScope.ORG, max_running=3),
    WorkLimit(scope=LimitScope.ORG, kind=WorkKind.NOOP, max_running=2),
    WorkLimit(scope=LimitScope.KEY, kind=WorkKind.NOOP, max_running=2),
    WorkRate(kind=WorkKind.NOOP, per_second=1000, burst=1000),
    WorkPause(lane="elsewhere"),
    *(WorkPause(org_id=UUID(int=number)) for number in range(1, 6)),
    *(WorkLimit(scope=LimitScope.ORG, org_id=UUID(int=number), max_running=1) for number in range(6, 106)),
)


@pytest.fixture
async def admin(crowd: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(crowd, timeout=10, command_timeout=TIMEOUT_SECONDS)
    yield connection
    await connection.close()
    await take_away(crowd)


@pytest.fixture(params=[True, False], ids=["one plan for all", "a plan for these"])
def generic(request: pytest.FixtureRequest) -> bool:
    """Which plan is measured."""
    return bool(request.param)


@pytest.fixture
async def crowded(admin: asyncpg.Connection, crowd: str) -> AsyncIterator[Database]:
    """The database, with every control there is, and nothing that is due."""
    assert await admin.fetchval("SELECT count(*) FROM queue.work_controls") == 0
    opened = Database(database_options(settings_for(login_urls_of(crowd))))
    for control in CONTROLS:
        await WorkStoragePostgresImpl(opened).put_control(control, "tests")
    yield opened
    await opened.close()


def through_gate(limit: int, share: int = 1) -> tuple[Any, ...]:
    """The claim of up to so many items through the gate, and its parameters."""
    names = [kind.value for kind in KINDS]
    size = next(size for size in SIZES if size >= limit)
    return gated_statement(size, len(names)), LANE, names, "worker-1", LEASE, EMPTY_UUID, 0, share, limit


@pytest.mark.parametrize("limit", [1, 10, 100])
async def test_a_claim_with_all_features_pays_for_what_it_takes(
    crowded: Database, admin: asyncpg.Connection, limit: int, *, generic: bool
) -> None:
    await admin.execute(FILL_DUE, LANE, NUM_ORGS, DUE_OF_EACH)
    touched = await buffers_of(crowded, *through_gate(limit), generic=generic)
    passed = NUM_BLOCKED_ORGS * BUFFERS_PER_BLOCKED_ORG
    assert touched <= BUFFERS_OF_THE_GATE + passed + limit * BUFFERS_PER_ITEM_THROUGH_THE_GATE
    assert await admin.fetchval("SELECT count(*) FROM queue.work_items WHERE status = 'claimed'") == NUM_RUNNING + limit


async def test_a_claim_with_all_features_pays_nearly_nothing_where_nothing_is_due(
    crowded: Database, *, generic: bool
) -> None:
    assert await buffers_of(crowded, *through_gate(100), generic=generic) <= BUFFERS_OF_THE_GATE


async def test_a_claim_pays_for_what_it_takes_where_nothing_bounds_it(
    crowded: Database, admin: asyncpg.Connection, *, generic: bool
) -> None:
    await admin.execute("TRUNCATE queue.work_controls")
    names = [kind.value for kind in KINDS]
    claim = (claim_statement(100, 1), LANE, names, "worker-1", LEASE, EMPTY_UUID, 100)
    assert await buffers_of(crowded, *claim, generic=generic) <= BUFFERS_TO_FIND_NOTHING
    await admin.execute(FILL_DUE, LANE, NUM_ORGS, 2)
    assert await buffers_of(crowded, *claim, generic=generic) <= BUFFERS_TO_FIND_NOTHING + 100 * BUFFERS_PER_ITEM


async def test_a_claim_passes_blocked_lines_at_one_look_each(
    crowded: Database, admin: asyncpg.Connection, *, generic: bool
) -> None:
    num_lines = MAX_LINES - 10
    await admin.execute("DELETE FROM queue.work_controls WHERE scope = 'org'")
    await admin.execute(BLOCK_LINES, UUID(int=500), LANE, num_lines)
    touched = await buffers_of(crowded, *through_gate(10), generic=generic)
    assert touched <= BUFFERS_OF_THE_GATE + num_lines * BUFFERS_PER_BLOCKED_LINE
