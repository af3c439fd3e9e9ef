"""The work manager over memory: what it tells of ends, and who waits for them."""

import asyncio
from datetime import timedelta
from typing import override

import pytest

from headrace.infra.topics import MAX_ENDS, TopicPayload, Topics, WorkEnd, WorkSettled
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.infra.topics.wakeups import CoalescedWakeups
from headrace.om.base import new_id
from headrace.om.context import OpContext
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.work import rules
from headrace.om.work.exceptions import WorkItemNotFound
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.impl.parts import WorkParts
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import KINDS, LANE, LEASE, NO_LEASE, a_work_item
from om.tests.unit.work_queue import Queue

FOREVER = timedelta(hours=1)


class Recording(TopicsInProcessImpl):
    """Keeps what is published; whether somebody listens is what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[TopicPayload] = []
        self.listening: bool | None = True
        self.fails = False

    @override
    def has_listeners(self, topic: Topics) -> bool | None:
        return self.listening

    @override
    async def publish(self, topic: Topics, payload: TopicPayload) -> bool:
        if self.fails:
            raise TypeError("a payload that no topic takes")
        self.published.append(payload)
        return True

    @property
    def ends(self) -> list[WorkEnd]:
        return [end for message in self.published if isinstance(message, WorkSettled) for end in message.ends]


@pytest.fixture
def topics() -> Recording:
    return Recording()


def manager(queue: Queue, topics: Recording, *, tells: bool = False) -> WorkManagerImpl:
    parts = WorkParts(
        queue.storage.get_work_storage(),
        queue.tenancy,
        queue.audit,
        CoalescedWakeups(TopicsInProcessImpl()),
        topics,
        queue.dead_letters.append,
        tells_settlements=tells,
    )
    return WorkManagerImpl(parts)


async def claim(queue: Queue, num_items: int) -> tuple[tuple[OpContext, WorkItem], ...]:
    return await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, num_items)


async def test_a_batch_is_told_of_in_few_messages(queue: Queue, ctx: OpContext, topics: Recording) -> None:
    await queue.work.enqueue_many(ctx, [a_work_item() for _ in range(MAX_ENDS + 1)])
    claimed = await claim(queue, MAX_ENDS + 1)
    ends = [
        (c, rules.failed(i, "boom")) if place == 0 else (c, rules.done(i, 1)) for place, (c, i) in enumerate(claimed)
    ]
    await manager(queue, topics).settle_many(ends)
    assert len(topics.published) == 2
    assert [end.will_retry for end in topics.ends] == [True] + [False] * MAX_ENDS
    assert topics.ends[1] == WorkEnd(
        org_id=ctx.org_id, item_id=claimed[1][1].id, kind="NOOP", origin="tests", outcome="done", will_retry=False
    )


@pytest.mark.parametrize(
    ("listening", "tells", "num_told"), [(True, False, 1), (False, False, 0), (None, False, 0), (None, True, 1)]
)
async def test_it_is_told_where_somebody_listens_or_the_setting_asks(
    queue: Queue,
    ctx: OpContext,
    topics: Recording,
    listening: bool | None,  # noqa: FBT001 - a table's column
    tells: bool,  # noqa: FBT001 - likewise
    num_told: int,
) -> None:
    topics.listening = listening
    await queue.work.enqueue(ctx, a_work_item())
    await manager(queue, topics, tells=tells).complete(*(await queue.claim()))
    assert len(topics.ends) == num_told


async def test_a_lost_claim_is_not_told_of(queue: Queue, ctx: OpContext, topics: Recording) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    await queue.work.release(work_ctx, item)
    await manager(queue, topics).settle_many([(work_ctx, rules.done(item, None))])
    assert topics.ends == []


async def test_a_settlement_that_comes_again_is_told_of_under_the_same_key(
    queue: Queue, ctx: OpContext, topics: Recording
) -> None:
    await queue.work.enqueue(ctx, a_work_item(max_attempts=1))
    work_ctx, item = await queue.claim()
    end = (work_ctx, rules.failed(item, "boom"))
    work = manager(queue, topics)
    assert await work.settle_many([end]) == await work.settle_many([end])
    assert len({message.idempotency_key for message in topics.published}) == 1


async def test_cancels_and_the_sweep_are_told_of(queue: Queue, ctx: OpContext, topics: Recording) -> None:
    work = manager(queue, topics)
    items = [await work.enqueue(ctx, a_work_item(max_attempts=attempts)) for attempts in (1, 2)]
    other = await work.enqueue(ctx, a_work_item(lane="other"))
    await work.cancel(ctx, other.id)
    await work.claim_many(queue.rctx, LANE, KINDS, "worker-1", NO_LEASE, 2)
    (service,) = await work.maintenance_contexts(queue.rctx)
    await work.requeue_stale(service)
    told = {end.item_id: (end.outcome, end.will_retry) for end in topics.ends}
    assert told == {
        other.id: ("cancelled", False),
        items[0].id: ("failed", False),
        items[1].id: ("requeued", True),
    }


async def test_a_settlement_stands_when_it_cannot_be_told_of(queue: Queue, ctx: OpContext, topics: Recording) -> None:
    topics.fails = True
    item = await queue.work.enqueue(ctx, a_work_item())
    await manager(queue, topics).complete(*(await queue.claim()))
    assert (await queue.work.get_item(ctx, item.id)).status is WorkStatus.DONE


async def until_heard(queue: Queue) -> None:
    while not queue.topics.has_listeners(Topics.WORK_SETTLED):  # noqa: ASYNC110 - topics tell nobody who comes
        await asyncio.sleep(0)


async def test_waiting_ends_with_the_settlement(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    waiting = asyncio.create_task(queue.work.wait_settled(ctx, item.id, FOREVER, poll_interval=FOREVER))
    await until_heard(queue)
    work_ctx, claimed = await queue.claim()
    await queue.work.fail(work_ctx, claimed, "once")
    await queue.work.cancel(ctx, item.id)
    assert (await asyncio.wait_for(waiting, 5)).status is WorkStatus.CANCELLED
    assert queue.topics.has_listeners(Topics.WORK_SETTLED) is False


async def test_waiting_for_what_has_settled_is_over_at_once(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    await queue.work.cancel(ctx, item.id)
    assert (await queue.work.wait_settled(ctx, item.id, FOREVER)).status is WorkStatus.CANCELLED


async def test_waiting_looks_by_itself_when_nothing_is_heard(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    step = timedelta(milliseconds=1)
    waiting = asyncio.create_task(queue.work.wait_settled(ctx, item.id, FOREVER, poll_interval=step))
    await until_heard(queue)
    await queue.storage.get_work_storage().cancel_item(ctx.org_id, item.id)
    assert (await asyncio.wait_for(waiting, 5)).status is WorkStatus.CANCELLED


async def test_waiting_returns_the_item_as_it_stands_when_the_time_has_passed(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    assert (await queue.work.wait_settled(ctx, item.id, timedelta(0))).status is WorkStatus.QUEUED
    assert (await queue.work.wait_settled(ctx, item.id, timedelta(milliseconds=5))).status is WorkStatus.QUEUED


async def test_waiting_is_refused_without_a_poll_an_item_or_a_permission(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    with pytest.raises(ValidationFailed, match="poll_interval"):
        await queue.work.wait_settled(ctx, item.id, FOREVER, poll_interval=timedelta(0))
    with pytest.raises(WorkItemNotFound):
        await queue.work.wait_settled(ctx, new_id(), FOREVER)
    with pytest.raises(WorkItemNotFound):
        await queue.work.wait_settled(await queue.owner_of_new_org(), item.id, FOREVER)
    powerless = ctx.model_copy(update={"security": ctx.security.model_copy(update={"permissions": frozenset()})})
    with pytest.raises(NotAuthorized):
        await queue.work.wait_settled(powerless, item.id, FOREVER)


async def test_nobody_listens_any_more_when_a_wait_is_cancelled(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    waiting = asyncio.create_task(queue.work.wait_settled(ctx, item.id, FOREVER))
    await until_heard(queue)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert queue.topics.has_listeners(Topics.WORK_SETTLED) is False
