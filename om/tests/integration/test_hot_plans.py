"""Every hot statement pays for its own rows: beside a thousand orgs it touches about as much as beside another one.

Buffers and not time: the count is the same on a slow machine. Beside the org's own two thousand rows lie two million
others, or two thousand: what is left to pay for them is a level more in each index.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID, new_id, utcnow
from headrace.om.storage.database import Database, DriverStatement
from headrace.om.storage.options import database_options
from headrace.om.work import rules
from headrace.om.work.storage.impl import bundle_statements as bundles
from headrace.om.work.storage.impl import ending_statements as ending
from headrace.om.work.storage.impl import filtered_statements as filtered
from headrace.om.work.storage.impl import statements as sql
from headrace.om.work.storage.impl.claim_statements import SIZES, claim_statement
from headrace.om.work.storage.impl.item_columns import insert_columns, insert_values
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from headrace.om.work.storage.impl.postgres_settling import settle_columns
from headrace.om.work.types.queries import ClaimedRow, WorkFilter
from headrace.om.work.types.settlement import Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.tools.dev import PostgresServer
from headrace.tools.dev.postgres import run_apart
from om.tests.contracts.work_bundles import FOLLOW_UP, a_bundle, items_of
from om.tests.contracts.work_items import KINDS, LEASE, NO_LEASE, a_work_item
from om.tests.integration.buffers import buffers_of
from om.tests.integration.crowd import TIMEOUT_SECONDS, crowded_database, take_away
from tests.fixtures.database import login_urls_of, settings_for

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

NUM: Final = 50
"""Items of one statement, where it takes several."""

RATIO: Final = 1.5
LEVELS: Final = 3
"""Of an index of two million rows, where the other one is empty."""
BUFFERS_OF_GAUGES: Final = 2000
"""What is due, claimed and failed: rows that other cases left. The settled ones alone fill ten times as many."""


PAGE: Final = 100

BUSY: Final = UUID(int=1)
QUIET: Final = UUID(int=2)
"""The org that is looked at; the other one's rows come and go."""


@dataclass
class Bench:
    """An org whose statements are measured: one of the thousand, or of the other database's two."""

    database: Database
    generic: bool
    org_id: UUID
    lane: str = field(default_factory=lambda: str(new_id()))

    def __post_init__(self) -> None:
        self.storage = WorkStoragePostgresImpl(self.database)

    async def of_org(self, stmt: DriverStatement, *args: Any) -> int:  # noqa: ANN401 - any parameter
        return await buffers_of(self.database, stmt, self.org_id, *args, org_id=self.org_id, generic=self.generic)

    async def across(self, stmt: DriverStatement, *args: Any) -> int:  # noqa: ANN401 - likewise
        return await buffers_of(self.database, stmt, *args, generic=self.generic)

    def items(self, num_items: int = NUM, **fields: Any) -> list[WorkItem]:  # noqa: ANN401 - any field
        return [a_work_item(lane=self.lane, **fields) for _ in range(num_items)]

    async def enqueue(self, items: list[WorkItem]) -> int:
        return await self.of_org(sql.CREATE_ITEMS, *insert_columns(items, fair_share=True))

    async def page(self, **where: Any) -> int:  # noqa: ANN401 - any field of a filter
        sought = WorkFilter(**where)
        stmt = filtered.read_items(filtered.given(sought), sought.status)
        return await self.of_org(stmt, PAGE, None, *filtered.values(sought))

    async def claimed(self, lease: timedelta = LEASE) -> tuple[ClaimedRow, ...]:
        await self.storage.create_items(self.org_id, self.items())
        return await self.storage.claim_batch(self.lane, KINDS, "worker-1", lease, NUM)

    async def settle(self, end: Callable[[WorkItem], Settlement]) -> int:
        rows = await self.claimed()
        return await self.across(ending.SETTLE_BATCH, *settle_columns([(row.org_id, end(row.item)) for row in rows]))


type Measure = Callable[[Bench], Awaitable[int]]
"""Returns how many buffers a statement touches."""


async def enqueue_one(bench: Bench) -> int:
    (item,) = bench.items(1)
    return await bench.of_org(sql.CREATE_ITEM, *insert_values(item, fair_share=True))


async def enqueue_many(bench: Bench) -> int:
    return await bench.enqueue(bench.items())


async def enqueue_for_later(bench: Bench) -> int:
    return await bench.enqueue(bench.items(available_at=utcnow() + timedelta(hours=5)))


async def enqueue_with_a_key(bench: Bench) -> int:
    return await bench.enqueue([a_work_item(lane=bench.lane, idempotency_key=str(new_id())) for _ in range(NUM)])


async def enqueue_unique_for_something(bench: Bench) -> int:
    unique = [item.model_copy(update={"unique_hash": new_id(), "unique_for": ()}) for item in bench.items()]
    return await bench.enqueue(unique)


async def enqueue_again(bench: Bench) -> int:
    items = [a_work_item(lane=bench.lane, idempotency_key=str(new_id())) for _ in range(NUM)]
    await bench.storage.create_items(bench.org_id, items)
    return await bench.enqueue([item.model_copy(update={"id": new_id()}) for item in items])


async def claim_many(bench: Bench) -> int:
    await bench.storage.create_items(bench.org_id, bench.items())
    size = next(size for size in SIZES if size >= NUM)
    names = [kind.value for kind in KINDS]
    return await bench.across(claim_statement(size, 1), bench.lane, names, "worker-1", LEASE, EMPTY_UUID, NUM)


async def renew(bench: Bench) -> int:
    rows = await bench.claimed()
    claims = ([row.org_id for row in rows], [row.item.id for row in rows], [row.item.claim_token for row in rows])
    return await bench.across(sql.EXTEND_LEASES, *claims, LEASE)


async def settle_as_done(bench: Bench) -> int:
    return await bench.settle(lambda item: rules.done(item, None))


async def settle_for_another_attempt(bench: Bench) -> int:
    return await bench.settle(lambda item: rules.failed(item, "boom"))


async def settle_in_bundles(bench: Bench) -> int:
    for _ in range(NUM):
        bundle = a_bundle(1, on_settled=FOLLOW_UP)
        items = [item.model_copy(update={"lane": bench.lane}) for item in items_of(bundle)]
        await bench.storage.create_bundle(bench.org_id, bundle, items)
    rows = await bench.storage.claim_batch(bench.lane, KINDS, "worker-1", LEASE, NUM)
    columns = settle_columns([(row.org_id, rules.done(row.item, None)) for row in rows])
    return await bench.across(ending.SETTLE_COUNTED, *columns, [], *insert_columns([], fair_share=True))


async def requeue(bench: Bench) -> int:
    await bench.claimed(NO_LEASE)
    args = (timedelta(0), NUM, rules.MAX_CRASHES, rules.STAGGER_STEP, rules.STAGGER_CAP, rules.LEASE_PASSED_ERROR)
    return await bench.of_org(ending.REQUEUE_STALE, *args)


async def purge(bench: Bench) -> int:
    ends = [(row.org_id, rules.done(row.item, None)) for row in await bench.claimed()]
    await bench.storage.settle_batch(ends)
    return await bench.of_org(sql.PURGE_ITEMS, timedelta(0), NUM)


async def cancel_many(bench: Bench) -> int:
    await bench.storage.create_items(bench.org_id, bench.items())
    stmt = filtered.cancel_items(("lane",), None)
    return await bench.of_org(stmt, NUM, None, bench.lane)


HOT: Final[dict[Measure, tuple[int, int]]] = {
    enqueue_one: (1, 16),
    enqueue_many: (NUM, 14),
    enqueue_for_later: (NUM, 16),
    enqueue_with_a_key: (NUM, 20),
    enqueue_unique_for_something: (NUM, 18),
    enqueue_again: (NUM, 10),
    claim_many: (NUM, 20),
    renew: (NUM, 18),
    settle_as_done: (NUM, 20),
    settle_for_another_attempt: (NUM, 20),
    settle_in_bundles: (NUM, 36),
    requeue: (NUM, 22),
    purge: (NUM, 11),
    cancel_many: (NUM, 28),
}
"""What is measured, of how many items it is, and how many buffers each of them may cost."""


async def newest_page(bench: Bench) -> int:
    return await bench.page()


async def page_of_dead_letters(bench: Bench) -> int:
    return await bench.page(status=WorkStatus.FAILED)


async def page_of_a_bundle(bench: Bench) -> int:
    return await bench.page(bundle_id=new_id())


async def page_that_looks_at_all_of_the_org(bench: Bench) -> int:
    return await bench.page(origin="nobody")


async def page_of_bundles(bench: Bench) -> int:
    return await bench.of_org(bundles.READ_BUNDLES, None, None, None, None, PAGE)


async def orgs_with_stale_claims(bench: Bench) -> int:
    return await bench.across(sql.READ_STALE_ORGS, PAGE)


LOOKS: Final[dict[Measure, int]] = {
    newest_page: 130,
    page_of_dead_letters: 10,
    page_of_a_bundle: 10,
    page_that_looks_at_all_of_the_org: 300,
    page_of_bundles: 30,
    orgs_with_stale_claims: 30,
}
"""Looks at the queue, and how many buffers a page of each may cost."""


@pytest.fixture(scope="module")
def crowd_alone(crowd: str) -> Iterator[str]:
    """The database with the two million rows; what the module adds is taken away at its end."""
    yield crowd
    run_apart(lambda: take_away(crowd))


@pytest.fixture(scope="module")
def two_orgs(postgres_server: PostgresServer, database_template: str) -> Iterator[str]:
    """A database with the rows of two of the orgs."""
    with crowded_database(postgres_server, database_template, num_orgs=2) as dsn:
        yield dsn


@pytest.fixture(params=[True, False], ids=["one plan for all", "a plan for these"])
def generic(request: pytest.FixtureRequest) -> bool:
    """Which plan is measured."""
    return bool(request.param)


@pytest.fixture
async def crowded(crowd_alone: str, *, generic: bool) -> AsyncIterator[Bench]:
    database = Database(database_options(settings_for(login_urls_of(crowd_alone))))
    yield Bench(database, generic, BUSY)
    await database.close()


@pytest.fixture
async def alone(two_orgs: str, *, generic: bool) -> AsyncIterator[Bench]:
    database = Database(database_options(settings_for(login_urls_of(two_orgs))))
    yield Bench(database, generic, BUSY)
    await database.close()


async def once_warm(measure: Measure, bench: Bench) -> int:
    """Measure a few times: at the first a connection also reads the catalog, and a page may just then be split."""
    return min([await measure(bench) for _ in range(3)])


@pytest.mark.parametrize("measure", HOT, ids=lambda each: each.__name__)
async def test_a_hot_statement_pays_for_its_own_rows(crowded: Bench, alone: Bench, measure: Measure) -> None:
    num_items, buffers_per_item = HOT[measure]
    touched = await once_warm(measure, crowded)
    assert touched <= num_items * buffers_per_item
    assert touched <= RATIO * await once_warm(measure, alone) + LEVELS


@pytest.mark.parametrize("measure", LOOKS, ids=lambda each: each.__name__)
async def test_a_look_pays_for_what_it_returns_and_at_most_for_its_orgs_rows(
    crowded: Bench, alone: Bench, measure: Measure
) -> None:
    touched = await once_warm(measure, replace(crowded, org_id=QUIET))
    assert touched <= LOOKS[measure]
    assert touched <= RATIO * await once_warm(measure, replace(alone, org_id=QUIET)) + LEVELS


async def test_the_gauges_read_no_row_that_has_settled_and_of_those_that_wait_their_index_alone(
    crowded: Bench, crowd_alone: str
) -> None:
    admin = await asyncpg.connect(crowd_alone, timeout=10, command_timeout=TIMEOUT_SECONDS)
    await admin.execute("VACUUM queue.work_items")
    num_pages = await admin.fetchval("SELECT pg_relation_size('queue.work_items_waiting') / 8192")
    await admin.close()
    assert await once_warm(lambda bench: bench.across(sql.READ_GAUGES), crowded) <= num_pages + BUFFERS_OF_GAUGES
