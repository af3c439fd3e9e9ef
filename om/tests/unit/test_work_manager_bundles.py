"""The work manager over memory: bundles."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from headrace.infra.topics import BundleSettled, TopicPayload, Topics
from headrace.om.base import new_id
from headrace.om.context import OpContext
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.work.bundling import MAX_BUNDLE
from headrace.om.work.exceptions import (
    WorkBundleInWrongState,
    WorkBundleNotFound,
    WorkItemTaken,
    WorkPayloadRefused,
)
from headrace.om.work.types.bundle import BundleFilter, BundleStatus, FollowUp, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import LANE, NO_LEASE, a_work_item, payload
from om.tests.unit.work_queue import Queue

FOLLOW_UP = FollowUp(kind=WorkKind.NOOP, payload=payload(note="all"), lane="after")


def a_bundle(**fields: Any) -> WorkBundle:  # noqa: ANN401 - any field
    return WorkBundle.model_validate({"kind": "report", "origin": "tests"} | fields)


async def hear(queue: Queue, topic: Topics) -> list[TopicPayload]:
    heard: list[TopicPayload] = []

    async def ear(message: TopicPayload) -> None:
        heard.append(message)

    await queue.topics.subscribe(topic, ear)
    return heard


async def enqueued(queue: Queue, ctx: OpContext, num_items: int, **fields: Any) -> WorkBundle:  # noqa: ANN401 - any field
    items = [a_work_item(max_attempts=1) for _ in range(num_items)]
    return await queue.work.enqueue_bundle(ctx, a_bundle(**fields), items)


async def test_a_bundle_is_written_whole_and_wakes_its_lanes(queue: Queue, ctx: OpContext) -> None:
    sent = a_bundle(num_items=99, num_done=3, status=BundleStatus.SETTLED, created_by=uuid4(), on_settled=FOLLOW_UP)
    items = [a_work_item(), a_work_item()]
    written = await queue.work.enqueue_bundle(ctx, sent, items)
    assert await queue.work.get_bundle(ctx, sent.id) == written
    assert (written.num_items, written.num_done, written.status) == (2, 0, BundleStatus.OPEN)
    assert (written.created_by, written.request_id, written.traceparent) == (
        ctx.user_id,
        ctx.request_id,
        ctx.traceparent,
    )
    found = await queue.work.get_items(ctx, WorkFilter(bundle_id=sent.id), 10)
    assert {item.id for item in found} == {item.id for item in items}
    woken = await asyncio.wait_for(queue.woken.get(), 5)
    assert (woken.lane, woken.num_items) == (LANE, 2)


async def test_a_bundle_enqueued_again_is_read_back_as_it_stands(queue: Queue, ctx: OpContext) -> None:
    bundle = a_bundle()
    await queue.work.enqueue_bundle(ctx, bundle, [a_work_item()])
    await queue.work.complete(*(await queue.claim()))
    again = await queue.work.enqueue_bundle(ctx, bundle, [a_work_item(), a_work_item()])
    assert (again.num_items, again.num_done) == (1, 1)
    assert len(await queue.work.get_items(ctx, WorkFilter(), 10)) == 1


async def test_a_bundle_with_an_item_that_is_there_writes_nothing_and_names_it(queue: Queue, ctx: OpContext) -> None:
    there = await queue.work.enqueue(ctx, a_work_item(idempotency_key="key"))
    with pytest.raises(WorkItemTaken, match=rf"items\[1\].*{there.id}"):
        await queue.work.enqueue_bundle(ctx, a_bundle(), [a_work_item(), a_work_item(idempotency_key="key")])
    assert await queue.work.get_bundles(ctx, BundleFilter(), 10) == ()


@pytest.mark.parametrize(
    ("items", "named"),
    [
        ([], "items"),
        ([a_work_item()] * 2, r"items\[1\].id"),
        ([a_work_item(idempotency_key="k"), a_work_item(idempotency_key="k")], r"items\[1\].idempotency_key"),
        ([a_work_item(unique_for=()), a_work_item(unique_for=())], r"items\[1\].unique_for"),
        ([a_work_item(), a_work_item(payload=payload(other=1))], r"items\[1\].payload.other"),
        ([a_work_item()] * (MAX_BUNDLE + 1), "at most"),
    ],
    ids=["empty", "one id", "one key", "one uniqueness", "a payload", "too many"],
)
async def test_a_bundle_that_cannot_be_taken_whole_is_refused(
    queue: Queue, ctx: OpContext, items: list[WorkItem], named: str
) -> None:
    with pytest.raises(ValidationFailed, match=named):
        await queue.work.enqueue_bundle(ctx, a_bundle(), items)
    assert await queue.work.get_items(ctx, WorkFilter(), 10) == ()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"kind": "a\x00"}, "kind"),
        ({"origin": "a\x00"}, "origin"),
        ({"on_settled": FollowUp(kind=WorkKind.NOOP, payload=payload(odd=1))}, "on_settled.payload.odd"),
        ({"on_settled": FollowUp(kind=WorkKind.read("ODD"))}, "on_settled.kind"),
        ({"on_settled": FOLLOW_UP.model_copy(update={"lane": "\x00"})}, "on_settled.lane"),
    ],
)
async def test_a_field_of_a_bundle_that_does_not_fit_is_named(
    queue: Queue, ctx: OpContext, fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        await queue.work.enqueue_bundle(ctx, a_bundle(**fields), [a_work_item()])
    assert refused.value.field == named


async def test_the_last_end_is_told_of_and_followed(queue: Queue, ctx: OpContext) -> None:
    heard = await hear(queue, Topics.BUNDLE_SETTLED)
    bundle = await enqueued(queue, ctx, 2, on_settled=FOLLOW_UP)
    await asyncio.wait_for(queue.woken.get(), 5)
    await queue.work.complete(*(await queue.claim()))
    work_ctx, item = await queue.claim()
    await queue.work.refuse(work_ctx, item, "never")
    assert (await asyncio.wait_for(queue.woken.get(), 5)).lane == "after"
    (message,) = heard
    assert isinstance(message, BundleSettled)
    assert (message.org_id, message.bundle_id, message.kind, message.origin) == (
        ctx.org_id,
        bundle.id,
        "report",
        "tests",
    )
    assert (message.num_done, message.num_failed, message.num_cancelled) == (1, 1, 0)
    assert bundle.follow_up_id is not None
    follow_up = await queue.work.get_item(ctx, bundle.follow_up_id)
    assert (follow_up.payload, follow_up.created_by, follow_up.origin) == (FOLLOW_UP.payload, ctx.user_id, "tests")


async def test_ends_by_operators_and_by_the_sweep_are_told_of(queue: Queue, ctx: OpContext) -> None:
    heard = await hear(queue, Topics.BUNDLE_SETTLED)
    bundles = [await enqueued(queue, ctx, 1) for _ in range(3)]
    (first,) = await queue.work.get_items(ctx, WorkFilter(bundle_id=bundles[0].id), 1)
    await queue.work.cancel(ctx, first.id)
    (second,) = await queue.work.get_items(ctx, WorkFilter(bundle_id=bundles[1].id), 1)
    await queue.work.delete_item(ctx, second.id)
    await queue.claim(NO_LEASE)
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    await queue.work.requeue_stale(service)
    await asyncio.sleep(0)
    told = [message.bundle_id for message in heard if isinstance(message, BundleSettled)]
    assert told == [bundle.id for bundle in bundles]


async def test_a_follow_up_has_the_attempts_that_its_kind_has(queue: Queue, ctx: OpContext) -> None:
    bundle = await enqueued(queue, ctx, 1, on_settled=FOLLOW_UP)
    assert bundle.on_settled is not None
    assert bundle.on_settled.max_attempts == a_work_item().max_attempts


async def test_waiting_for_a_bundle_ends_with_its_last_item(queue: Queue, ctx: OpContext) -> None:
    bundle = await enqueued(queue, ctx, 1)
    waiting = asyncio.create_task(queue.work.wait_bundle_settled(ctx, bundle.id, timedelta(minutes=1)))
    while not queue.topics.has_listeners(Topics.BUNDLE_SETTLED):  # noqa: ASYNC110 - topics tell nobody who comes
        await asyncio.sleep(0)
    await queue.work.complete(*(await queue.claim()))
    assert (await asyncio.wait_for(waiting, 5)).status is BundleStatus.SETTLED


async def test_a_bundle_is_removed_unless_an_item_is_claimed(queue: Queue, ctx: OpContext) -> None:
    bundle = await enqueued(queue, ctx, 2)
    work_ctx, item = await queue.claim()
    with pytest.raises(WorkBundleInWrongState, match=str(bundle.id)):
        await queue.work.delete_bundle(ctx, bundle.id)
    await queue.work.complete(work_ctx, item)
    await queue.work.delete_bundle(ctx, bundle.id)
    assert await queue.work.get_items(ctx, WorkFilter(), 10) == ()
    with pytest.raises(WorkBundleNotFound):
        await queue.work.delete_bundle(ctx, bundle.id)


async def test_a_purge_takes_bundles_with_their_last_items(queue: Queue, ctx: OpContext) -> None:
    await enqueued(queue, ctx, 2)
    for _ in range(2):
        await queue.work.complete(*(await queue.claim()))
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    assert await queue.work.purge_items(service, timedelta(0)) == 3
    assert await queue.work.get_bundles(ctx, BundleFilter(), 10) == ()


async def test_nothing_of_a_gone_org_is_left(queue: Queue, ctx: OpContext) -> None:
    await enqueued(queue, ctx, 1, on_settled=FOLLOW_UP)
    await queue.tenancy.delete_org(ctx)
    for _ in range(2):
        await queue.work.fail_orphaned(ctx.org_id)
        await queue.work.purge_orphaned(ctx.org_id, timedelta(0))
    assert await queue.storage.get_work_storage().read_bundles(ctx.org_id, BundleFilter(), 10) == ()
    assert await queue.work.get_orphaned_orgs(queue.rctx) == frozenset()


async def test_another_org_finds_no_bundle_and_a_viewer_may_not_enqueue(queue: Queue, ctx: OpContext) -> None:
    bundle = await enqueued(queue, ctx, 1)
    other = await queue.owner_of_new_org()
    operations: list[Any] = [queue.work.get_bundle, queue.work.delete_bundle]
    for operation in operations:
        with pytest.raises(WorkBundleNotFound):
            await operation(other, bundle.id)
    with pytest.raises(WorkBundleNotFound):
        await queue.work.wait_bundle_settled(other, bundle.id, timedelta(0))
    powerless = ctx.model_copy(update={"security": ctx.security.model_copy(update={"permissions": frozenset()})})
    refused: list[Any] = [
        queue.work.enqueue_bundle(powerless, a_bundle(), [a_work_item()]),
        queue.work.get_bundle(powerless, bundle.id),
        queue.work.get_bundles(powerless, BundleFilter(), 1),
        queue.work.delete_bundle(powerless, bundle.id),
        queue.work.wait_bundle_settled(powerless, bundle.id, timedelta(0)),
    ]
    for each in refused:
        with pytest.raises(NotAuthorized):
            await each


async def test_a_payload_of_an_unknown_kind_is_refused_and_named(queue: Queue, ctx: OpContext) -> None:
    odd = a_work_item(kind=WorkKind.read("SENT_BY_ANOTHER_RELEASE"), id=new_id())
    with pytest.raises(WorkPayloadRefused, match="kind: expected a kind that this release knows"):
        await queue.work.enqueue(ctx, odd)
    assert await queue.work.get_items(ctx, WorkFilter(status=WorkStatus.QUEUED), 10) == ()
