"""The relay over memory: each row has one effect, is done only then, and holds up no other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import override
from uuid import UUID

import pytest

from headrace.infra.topics import EntityChanged, TopicPayload, Topics
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.infra.topics.wakeups import CoalescedWakeups
from headrace.om.audit.impl.manager import AuditManagerImpl
from headrace.om.audit.storage.impl.memory import AuditStorageMemoryImpl
from headrace.om.base import new_id
from headrace.om.context import AppContext, AppType, RequestContext
from headrace.om.events.impl.manager import EventsManagerImpl
from headrace.om.events.storage.impl.memory import EventsStorageMemoryImpl
from headrace.om.events.types.event import Event
from headrace.om.exceptions import Unavailable, ValidationFailed
from headrace.om.outbox.impl.relay import OutboxRelayImpl
from headrace.om.outbox.rows import entity_row, work_row
from headrace.om.outbox.rules import RelayBackoff
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.outbox.types.outbox_row import OutboxRow, TakenRow, UnreadableRow
from headrace.om.outbox.types.relay_report import OutboxGauges, RelayReport
from headrace.om.storage.clock import Clock
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.impl.manager import TenancyManagerImpl
from headrace.om.tenancy.storage.impl.memory import TenancyStorageMemoryImpl
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.impl.parts import WorkParts
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import CreatedItem, WorkFilter
from headrace.om.work.types.work_item import WorkItem
from infra.tests.contracts.eventually import eventually

RCTX = RequestContext(app=AppContext(type=AppType.TEST, version="tests@0"), traceparent="00-01-02-01")
HOLD = timedelta(minutes=1)
BACKOFF = RelayBackoff(base=timedelta(minutes=10), cap=timedelta(hours=1))


class _Scope:
    """Who asks."""

    def __init__(self, org_id: UUID) -> None:
        self.org_id = org_id
        self.user_id = new_id()
        self.request_id = new_id()
        self.traceparent = "00-0a-0b-01"


class FaultyEvents(EventsStorageMemoryImpl):
    """A feed that refuses some events, or any, as a database does that is away."""

    def __init__(self) -> None:
        super().__init__()
        self.refuses: set[UUID] = set()
        self.is_away = False

    @override
    async def create_event(self, org_id: UUID, event: Event) -> InsertOutcome:
        if self.is_away or event.id in self.refuses:
            raise Unavailable("the feed is away")
        return await super().create_event(org_id, event)


class FaultyOutbox(OutboxStorageMemoryImpl):
    """An outbox that can be away for a step."""

    is_away_for_marks = False
    is_away = False

    @override
    async def mark_done(self, org_id: UUID, row_ids: object) -> int:
        if self.is_away_for_marks:
            raise Unavailable("the outbox is away")
        return await super().mark_done(org_id, row_ids)  # type: ignore[arg-type]  # handed on as it came

    @override
    async def take_rows(self, org_id: UUID, row_ids: object, hold: timedelta) -> tuple[TakenRow, ...]:
        if self.is_away:
            raise Unavailable("the outbox is away")
        return await super().take_rows(org_id, row_ids, hold)  # type: ignore[arg-type]  # handed on as it came


class FaultyQueue(WorkStorageMemoryImpl):
    """A queue that can be away, or refuse the statement that brings certain keys."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.refuses: set[str] = set()
        self.is_away = False
        self.num_inserts = 0

    @override
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        self.num_inserts += 1
        if self.is_away:
            raise Unavailable("the queue is away")
        if any(item.idempotency_key in self.refuses for item in items):
            raise ValidationFailed("payload", "something else")
        return await super().create_items(org_id, items)


class Relaying:
    """A relay with the real managers around it, over memory."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, tzinfo=UTC)
        self.outbox = FaultyOutbox(lambda: self.now)
        self.feed = FaultyEvents()
        self.work_storage = FaultyQueue(lambda: self.now)
        self.topics = TopicsInProcessImpl()
        self.heard: list[TopicPayload] = []
        tenancy = TenancyManagerImpl(TenancyStorageMemoryImpl(self.outbox, lambda: self.now))
        wakeups = CoalescedWakeups(self.topics)
        audit = AuditManagerImpl(AuditStorageMemoryImpl())
        self.work = WorkManagerImpl(WorkParts(self.work_storage, tenancy, audit, wakeups, self.topics, lambda _: None))
        self.relay = OutboxRelayImpl(
            self.outbox, EventsManagerImpl(self.feed), self.topics, self.work, hold=HOLD, backoff=BACKOFF
        )
        self.scope = _Scope(new_id())

    @property
    def org_id(self) -> UUID:
        return self.scope.org_id

    def entity_row(self) -> OutboxRow:
        return entity_row(self.scope, "org", new_id(), "created")

    def work_row(self) -> OutboxRow:
        return work_row(self.scope, WorkKind.NOOP, {}, origin="tests")

    def land(self, *rows: OutboxRow) -> None:
        self.outbox.add(self.org_id, rows)

    async def sweep(self, limit: int = 100) -> RelayReport:
        return await self.relay.relay_pending(RCTX, limit)

    async def events(self) -> list[Event]:
        return list(await self.feed.read_events(self.org_id, 100, None))

    async def items(self) -> list[WorkItem]:
        return list(await self.work_storage.read_items(self.org_id, WorkFilter(), 100, None))

    async def num_pending(self) -> int:
        return (await self.outbox.read_gauges()).num_pending

    async def hear(self, payload: TopicPayload) -> None:
        self.heard.append(payload)


@pytest.fixture
async def relaying() -> AsyncIterator[Relaying]:
    made = Relaying()
    await made.topics.start()
    await made.topics.subscribe(Topics.ENTITY_CHANGED, made.hear)
    yield made
    await made.topics.close()


async def test_an_entity_change_becomes_an_event_and_is_published(relaying: Relaying) -> None:
    row = relaying.entity_row()
    relaying.land(row)
    assert await relaying.sweep() == RelayReport(num_relayed=1)
    assert [event.id for event in await relaying.events()] == [row.id]
    await eventually(lambda: len(relaying.heard) == 1)
    heard = relaying.heard[0]
    assert isinstance(heard, EntityChanged)
    assert (heard.org_id, heard.entity, heard.change) == (relaying.org_id, "org", "created")
    assert heard.idempotency_key == str(row.id)


async def test_work_is_enqueued_with_the_rows_actor_request_and_trace(relaying: Relaying) -> None:
    row = relaying.work_row()
    relaying.land(row)
    await relaying.sweep()
    item = (await relaying.items())[0]
    assert (item.created_by, item.request_id, item.traceparent) == (row.actor_id, row.request_id, row.traceparent)


async def test_one_effect_is_left_when_a_row_is_relayed_twice(relaying: Relaying) -> None:
    relaying.land(relaying.entity_row(), relaying.work_row())
    relaying.outbox.is_away_for_marks = True
    assert await relaying.sweep() == RelayReport(num_failed=2)
    relaying.outbox.is_away_for_marks = False
    relaying.now += HOLD
    assert await relaying.sweep() == RelayReport(num_relayed=2)
    assert (len(await relaying.events()), len(await relaying.items())) == (1, 1)


async def test_a_row_stays_pending_until_its_effect_has_happened(relaying: Relaying) -> None:
    relaying.land(relaying.entity_row())
    relaying.feed.is_away = True
    assert await relaying.sweep() == RelayReport(num_failed=1)
    assert await relaying.num_pending() == 1
    relaying.feed.is_away = False
    relaying.now += BACKOFF.base
    assert await relaying.sweep() == RelayReport(num_relayed=1)
    assert await relaying.num_pending() == 0


async def test_other_rows_are_relayed_when_one_fails(relaying: Relaying) -> None:
    rows = [relaying.entity_row() for _ in range(20)]
    relaying.feed.refuses = {rows[0].id}
    relaying.land(*rows, relaying.work_row())
    assert await relaying.sweep() == RelayReport(num_relayed=20, num_failed=1)


async def test_a_failing_row_waits_longer_each_time(relaying: Relaying) -> None:
    relaying.land(relaying.entity_row())
    relaying.feed.is_away = True
    await relaying.sweep()
    relaying.now += BACKOFF.base
    assert await relaying.sweep() == RelayReport(num_failed=1)
    relaying.now += BACKOFF.base
    assert await relaying.sweep() == RelayReport()
    relaying.now += BACKOFF.base
    assert await relaying.sweep() == RelayReport(num_failed=1)


@pytest.mark.parametrize(
    "row",
    [
        OutboxRow(kind="of.tomorrow", actor_id=new_id(), request_id=new_id()),
        OutboxRow(kind="work.of_tomorrow", actor_id=new_id(), request_id=new_id()),
        OutboxRow(kind="entity.changed", actor_id=new_id(), request_id=new_id()),
    ],
)
async def test_a_row_that_this_release_does_not_understand_is_tried_again_later(
    relaying: Relaying, row: OutboxRow
) -> None:
    relaying.land(row, relaying.entity_row())
    assert await relaying.sweep() == RelayReport(num_relayed=1, num_failed=1)
    assert await relaying.num_pending() == 1


async def test_rows_of_the_request_are_relayed_at_once(relaying: Relaying) -> None:
    rows = [relaying.entity_row(), relaying.work_row()]
    relaying.land(*rows)
    await relaying.relay.relay_rows(relaying.org_id, rows)
    assert (len(await relaying.events()), len(await relaying.items())) == (1, 1)
    assert await relaying.num_pending() == 0


@pytest.mark.parametrize("away", ["take", "effect", "mark"])
async def test_the_request_hears_nothing_and_the_sweep_relays_when_a_backend_is_away(
    relaying: Relaying, away: str
) -> None:
    row = relaying.entity_row()
    relaying.land(row)
    relaying.outbox.is_away = away == "take"
    relaying.feed.is_away = away == "effect"
    relaying.outbox.is_away_for_marks = away == "mark"
    await relaying.relay.relay_rows(relaying.org_id, [row])
    relaying.outbox.is_away = relaying.feed.is_away = relaying.outbox.is_away_for_marks = False
    relaying.now += BACKOFF.base
    assert await relaying.sweep() == RelayReport(num_relayed=1)
    assert len(await relaying.events()) == 1


async def test_a_row_that_another_relay_holds_is_left_to_it(relaying: Relaying) -> None:
    row = relaying.entity_row()
    relaying.land(row)
    await relaying.outbox.take_pending(10, HOLD)
    await relaying.relay.relay_rows(relaying.org_id, [row])
    assert await relaying.events() == []


async def test_another_tenants_rows_are_not_relayed_in_ones_name(relaying: Relaying) -> None:
    row = relaying.entity_row()
    relaying.land(row)
    await relaying.relay.relay_rows(new_id(), [row])
    assert await relaying.num_pending() == 1


async def test_every_row_has_one_effect_when_many_relays_run_at_once(relaying: Relaying) -> None:
    relaying.land(*(relaying.work_row() for _ in range(50)))
    reports = await asyncio.gather(*(relaying.sweep(20) for _ in range(6)))
    assert sum(report.num_relayed for report in reports) == 50
    assert len(await relaying.items()) == 50


async def test_done_rows_are_purged_and_gauges_say_what_is_left(relaying: Relaying) -> None:
    relaying.land(relaying.entity_row())
    await relaying.sweep()
    relaying.now += timedelta(days=2)
    relaying.land(relaying.entity_row())
    relaying.now += timedelta(minutes=1)
    assert await relaying.relay.purge_done(RCTX, timedelta(days=1), 100) == 1
    assert await relaying.relay.read_gauges(RCTX) == OutboxGauges(num_pending=1, lag=timedelta(minutes=1))


async def test_other_rows_are_relayed_when_one_cannot_be_read(relaying: Relaying) -> None:
    poison = UnreadableRow(id=new_id(), kind="work.NOOP", error="no JSON object")
    relaying.outbox.add(relaying.org_id, [relaying.work_row(), poison, relaying.entity_row()])
    assert await relaying.sweep() == RelayReport(num_relayed=2, num_failed=1)
    relaying.now += BACKOFF.base - timedelta(seconds=1)
    assert await relaying.sweep() == RelayReport()
    relaying.now += timedelta(seconds=1)
    assert await relaying.sweep() == RelayReport(num_failed=1)


async def test_the_work_of_a_tenant_is_enqueued_in_one_statement(relaying: Relaying) -> None:
    relaying.land(*(relaying.work_row() for _ in range(50)))
    assert await relaying.sweep() == RelayReport(num_relayed=50)
    assert (relaying.work_storage.num_inserts, len(await relaying.items())) == (1, 50)


@pytest.mark.parametrize("is_seen_before", [True, False])
async def test_the_work_beside_it_is_enqueued_when_one_row_is_refused(
    relaying: Relaying, *, is_seen_before: bool
) -> None:
    rows = [relaying.work_row() for _ in range(5)]
    if is_seen_before:
        rows[2] = rows[2].with_changes(payload={"origin": ""})
    else:
        relaying.work_storage.refuses = {str(rows[2].id)}
    relaying.land(*rows)
    assert await relaying.sweep() == RelayReport(num_relayed=4, num_failed=1)
    assert {item.idempotency_key for item in await relaying.items()} == {str(row.id) for row in rows if row != rows[2]}


async def test_work_is_relayed_later_when_the_queue_is_away(relaying: Relaying) -> None:
    relaying.land(*(relaying.work_row() for _ in range(5)), relaying.entity_row())
    relaying.work_storage.is_away = True
    assert await relaying.sweep() == RelayReport(num_relayed=1, num_failed=5)
    assert relaying.work_storage.num_inserts == 1
    relaying.work_storage.is_away = False
    relaying.now += BACKOFF.base
    assert await relaying.sweep() == RelayReport(num_relayed=5)


@pytest.mark.parametrize("limit", [0, 1001])
async def test_a_limit_out_of_range_is_refused(relaying: Relaying, limit: int) -> None:
    with pytest.raises(ValidationFailed, match="limit"):
        await relaying.sweep(limit)
