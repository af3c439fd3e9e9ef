"""The work manager over memory: uniqueness, follow-ups, and operators who act on many items."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import ValidationError

from headrace.infra.topics import TopicPayload, Topics, WorkSettled
from headrace.om.base import new_id, utcnow
from headrace.om.context import OpContext
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.work import rules
from headrace.om.work.exceptions import WorkClaimLost, WorkItemNotUnique
from headrace.om.work.stamping import MAX_FOLLOW_UPS
from headrace.om.work.types.bundle import BundleFilter
from headrace.om.work.types.handler import Done
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import KINDS, LANE, LEASE, a_work_item, payload
from om.tests.unit.work_queue import Queue


async def test_a_second_item_that_agrees_is_the_first(queue: Queue, ctx: OpContext) -> None:
    first = await queue.work.enqueue(ctx, a_work_item(unique_for=("note",), payload=payload(note="a")))
    again = await queue.work.enqueue(ctx, a_work_item(unique_for=("note",), payload=payload(note="a")))
    other = await queue.work.enqueue(ctx, a_work_item(unique_for=("note",), payload=payload(note="b")))
    assert (again.id, other.id == first.id) == (first.id, False)


async def test_a_field_that_is_left_out_agrees_with_its_default(queue: Queue, ctx: OpContext) -> None:
    first = await queue.work.enqueue(ctx, a_work_item(unique_for=("note",)))
    again = await queue.work.enqueue(ctx, a_work_item(unique_for=("note",), payload=payload(note="")))
    assert again.id == first.id


async def test_one_of_a_kind_at_a_time_is_unique_for_nothing(queue: Queue, ctx: OpContext) -> None:
    first = await queue.work.enqueue(ctx, a_work_item(unique_for=(), payload=payload(note="a")))
    again = await queue.work.enqueue(ctx, a_work_item(unique_for=(), payload=payload(note="b")))
    assert again.id == first.id


async def test_callers_cannot_choose_the_digest(queue: Queue, ctx: OpContext) -> None:
    stamped = await queue.work.enqueue(ctx, a_work_item(unique_hash=UUID(int=7), bundle_id=new_id()))
    assert (stamped.unique_hash, stamped.bundle_id) == (None, None)


async def test_a_field_that_the_payload_does_not_have_is_refused(queue: Queue, ctx: OpContext) -> None:
    with pytest.raises(ValidationFailed, match=r"items\[1\]\.unique_for: .* got 'odd'"):
        await queue.work.enqueue_many(ctx, [a_work_item(), a_work_item(unique_for=("note", "odd"))])


async def test_a_retry_that_would_collide_is_refused_and_named(queue: Queue, ctx: OpContext) -> None:
    old = await queue.work.enqueue(ctx, a_work_item(unique_for=("note",)))
    await queue.work.cancel(ctx, old.id)
    await queue.work.enqueue(ctx, a_work_item(unique_for=("note",)))
    with pytest.raises(WorkItemNotUnique, match=r"payload\.note"):
        await queue.work.retry(ctx, old.id)


async def test_a_retry_of_many_wakes_and_reports(queue: Queue, ctx: OpContext) -> None:
    old = await queue.work.enqueue(ctx, a_work_item(unique_for=()))
    await queue.work.cancel(ctx, old.id)
    plain = await queue.work.enqueue(ctx, a_work_item(lane="slow"))
    await queue.work.cancel(ctx, plain.id)
    await queue.work.enqueue(ctx, a_work_item(unique_for=()))
    while not queue.woken.empty():
        queue.woken.get_nowait()
    retried = await queue.work.retry_many(ctx, WorkFilter(status=WorkStatus.CANCELLED), 10)
    assert {each.item_id: each.is_queued for each in retried} == {old.id: False, plain.id: True}
    async with asyncio.timeout(5):
        while (await queue.woken.get()).lane != "slow":
            pass
    assert await queue.work.retry_many(ctx, WorkFilter(), 10, old.id) == ()


async def test_a_cancel_of_many_wakes_who_may_begin_and_tells_of_the_ends(queue: Queue, ctx: OpContext) -> None:
    ends: asyncio.Queue[TopicPayload] = asyncio.Queue()
    await queue.topics.subscribe(Topics.WORK_SETTLED, ends.put)
    await queue.work.enqueue(ctx, a_work_item())
    _, running = await queue.claim()
    fields = {"ordering_key": "line", "available_at": utcnow() + timedelta(hours=1)}
    waiting = await queue.work.enqueue(ctx, a_work_item(lane="slow", **fields))
    cancelled = await queue.work.cancel_many(ctx, WorkFilter(origin="tests"), 10)
    assert [(each.id, each.status) for each in cancelled] == [
        (waiting.id, WorkStatus.CANCELLED),
        (running.id, WorkStatus.CLAIMED),
    ]
    async with asyncio.timeout(5):
        heard = await ends.get()
        while (await queue.woken.get()).lane != "slow":
            pass
    assert isinstance(heard, WorkSettled)
    assert [(each.item_id, each.outcome) for each in heard.ends] == [(waiting.id, "cancelled")]


def test_a_filter_refuses_text_that_is_never_stored() -> None:
    for sought in ("a\x00b", "\ud83d", "x" * 101):
        with pytest.raises(ValidationError, match="origin"):
            WorkFilter(origin=sought)
        with pytest.raises(ValidationError, match="kind"):
            BundleFilter(kind=sought)


async def test_finished_items_are_removed_by_filter(queue: Queue, ctx: OpContext) -> None:
    items = [await queue.work.enqueue(ctx, a_work_item(lane=lane)) for lane in ("a", "b", "c")]
    for item in items[:2]:
        await queue.work.cancel(ctx, item.id)
    assert await queue.work.delete_finished(ctx, WorkFilter(lane="a"), 10) == 1
    assert await queue.work.delete_finished(ctx, WorkFilter(), 10) == 1
    assert [item.id for item in await queue.work.get_items(ctx, WorkFilter(), 10)] == [items[2].id]


async def test_operating_on_many_asks_for_a_permission_and_a_limit(queue: Queue, ctx: OpContext) -> None:
    powerless = ctx.model_copy(update={"security": ctx.security.model_copy(update={"permissions": frozenset()})})
    operations: list[Any] = [queue.work.cancel_many, queue.work.retry_many, queue.work.delete_finished]
    for operation in operations:
        with pytest.raises(NotAuthorized):
            await operation(powerless, WorkFilter(), 10)
        with pytest.raises(ValidationFailed, match="limit"):
            await operation(ctx, WorkFilter(), 1001)


async def test_follow_ups_are_stamped_enqueued_and_woken(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    then = [a_work_item(lane="next", attempts=7, created_by=new_id()), a_work_item(lane="next")]
    await queue.work.complete(work_ctx, item, Done(1, then=then[:1]), then=then[1:])
    queued = await queue.work.get_items(ctx, WorkFilter(lane="next"), 10)
    assert {each.id for each in queued} == {each.id for each in then}
    assert {(each.attempts, each.created_by) for each in queued} == {(0, ctx.user_id)}
    async with asyncio.timeout(5):
        while (await queue.woken.get()).lane != "next":
            pass


async def test_follow_ups_that_do_not_fit_change_nothing_and_are_named(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    with pytest.raises(ValidationFailed, match=r"then\[1\]\.payload\.odd"):
        await queue.work.complete(work_ctx, item, then=[a_work_item(), a_work_item(payload=payload(odd=1))])
    with pytest.raises(ValidationFailed, match="at most"):
        await queue.work.complete(work_ctx, item, then=[a_work_item()] * (MAX_FOLLOW_UPS + 1))
    assert await queue.work.get_item(ctx, item.id) == item


async def test_among_many_a_settlement_whose_follow_ups_do_not_fit_is_a_dead_letter(
    queue: Queue, ctx: OpContext
) -> None:
    await queue.work.enqueue_many(ctx, [a_work_item() for _ in range(2)])
    (c0, i0), (c1, i1) = await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, 2)
    bad = rules.done(i0, Done(1, then=[a_work_item(kind=WorkKind.read("ODD"))]))
    settled = await queue.work.settle_many([(c0, bad), (c1, rules.done(i1, 1))])
    assert [each.status for each in settled] == [WorkStatus.FAILED, WorkStatus.DONE]
    failed = await queue.work.get_item(ctx, i0.id)
    assert "then[0].kind" in (failed.last_error or "")
    assert (failed.error_code, queue.dead_letters) == ("work_payload_refused", [WorkKind.NOOP])


async def test_nothing_follows_a_lost_claim(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    await queue.work.release(work_ctx, item)
    with pytest.raises(WorkClaimLost):
        await queue.work.complete(work_ctx, item, then=[a_work_item(lane="next")])
    assert await queue.work.get_items(ctx, WorkFilter(lane="next"), 10) == ()


async def test_the_policy_of_a_kind_says_how_often_when_the_item_does_not(
    queue: Queue, ctx: OpContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = rules.RetryPolicy(max_attempts=9, base=timedelta(0))
    monkeypatch.setattr(rules, "RETRY_POLICIES", {WorkKind.NOOP: policy})
    assert (await queue.work.enqueue(ctx, a_work_item())).max_attempts == 9
    assert (await queue.work.enqueue(ctx, a_work_item(max_attempts=2))).max_attempts == 2


async def test_a_dead_letter_of_a_strange_kind_is_named_and_counted(queue: Queue, ctx: OpContext) -> None:
    strange = WorkKind.read("SENT_BY_ANOTHER_RELEASE")
    await queue.storage.get_work_storage().create_item(ctx.org_id, a_work_item(kind=strange, max_attempts=1))
    _, item = (await queue.work.claim(queue.rctx, LANE, (strange,), "worker-1", timedelta(microseconds=1))) or (0, None)
    assert item is not None
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    assert await queue.work.requeue_stale(service) == 1
    assert queue.dead_letters == [strange]
    assert (await queue.work.get_status(ctx)).counts[0].kind == strange
