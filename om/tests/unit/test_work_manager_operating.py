"""The work manager over memory: operators, the sweep, permissions and other orgs."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from headrace.om import paging
from headrace.om.base import FrozenMapping, new_id, utcnow
from headrace.om.context import OpContext
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.work.exceptions import WorkItemInWrongState, WorkItemNotFound
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.impl.parts import WorkParts
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import KINDS, LANE, LEASE, NO_LEASE, a_work_item
from om.tests.unit.work_queue import Queue


async def test_operators_get_named_errors(queue: Queue, ctx: OpContext) -> None:
    with pytest.raises(WorkItemNotFound):
        await queue.work.cancel(ctx, new_id())
    item = await queue.work.enqueue(ctx, a_work_item())
    with pytest.raises(WorkItemInWrongState, match="queued"):
        await queue.work.retry(ctx, item.id)
    await queue.claim()
    with pytest.raises(WorkItemInWrongState, match="claimed"):
        await queue.work.delete_item(ctx, item.id)
    with pytest.raises(ValidationFailed, match="limit"):
        await queue.work.get_items(ctx, WorkFilter(), 0)


async def test_a_retry_queues_again_and_wakes_the_lane(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item(lane="later", available_at=utcnow() + timedelta(hours=1)))
    await queue.work.cancel(ctx, item.id)
    assert (await queue.work.retry(ctx, item.id)).status is WorkStatus.QUEUED
    assert (await asyncio.wait_for(queue.woken.get(), 5)).lane == "later"


async def test_the_sweep_hands_back_wakes_and_names_dead_letters(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue_many(ctx, [a_work_item(max_attempts=attempts) for attempts in (1, 5)])
    await asyncio.wait_for(queue.woken.get(), 5)
    await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", NO_LEASE, 2)
    assert await queue.work.get_stale_orgs(queue.rctx, 10) == {ctx.org_id}
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    assert await queue.work.requeue_stale(service) == 2
    assert await queue.work.requeue_stale(service) == 0
    assert queue.dead_letters == [WorkKind.NOOP]
    assert (await asyncio.wait_for(queue.woken.get(), 5)).num_items == 1


async def test_a_purge_takes_settled_items_past_retention(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    await queue.work.cancel(ctx, item.id)
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    assert await queue.work.purge_items(service, timedelta(hours=1)) == 0
    assert await queue.work.purge_items(service, timedelta(0)) == 1


async def test_every_item_of_a_deleted_org_ends_and_goes(queue: Queue, ctx: OpContext) -> None:
    live = await queue.work.enqueue(await queue.owner_of_new_org(), a_work_item())
    # Due in a year: no claim meets it for as long.
    await queue.work.enqueue(ctx, a_work_item(available_at=utcnow() + timedelta(days=365)))
    assert await queue.work.get_orphaned_orgs(queue.rctx) == frozenset()
    await queue.tenancy.delete_org(ctx)
    assert await queue.work.get_orphaned_orgs(queue.rctx) == {ctx.org_id}
    assert await queue.work.purge_orphaned(ctx.org_id, timedelta(0)) == 0
    assert await queue.work.fail_orphaned(ctx.org_id) == 1
    assert await queue.work.purge_orphaned(ctx.org_id, timedelta(hours=1)) == 0
    assert await queue.work.purge_orphaned(ctx.org_id, timedelta(0)) == 1
    assert await queue.work.get_orphaned_orgs(queue.rctx) == frozenset()
    assert (await queue.claim())[1].id == live.id


async def test_items_of_an_org_that_is_not_there_at_all_are_orphans(queue: Queue) -> None:
    unknown = new_id()
    await queue.storage.get_work_storage().create_item(unknown, a_work_item())
    assert await queue.work.get_orphaned_orgs(queue.rctx) == {unknown}


async def test_orphans_are_found_when_there_are_more_orgs_than_a_page(
    queue: Queue, ctx: OpContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE", 2)
    await queue.work.enqueue(ctx, a_work_item())
    unknown = {new_id() for _ in range(4)}
    for org_id in unknown:
        await queue.storage.get_work_storage().create_item(org_id, a_work_item())
    assert await queue.work.get_orphaned_orgs(queue.rctx) == unknown


async def test_the_sweep_moves_as_much_as_its_options_say(queue: Queue, ctx: OpContext) -> None:
    parts = WorkParts(
        queue.storage.get_work_storage(),
        queue.tenancy,
        queue.audit,
        queue.wakeups,
        queue.topics,
        queue.dead_letters.append,
        max_crashes=1,
        sweep_limit=2,
    )
    work = WorkManagerImpl(parts)
    await queue.work.enqueue_many(ctx, [a_work_item(max_attempts=9) for _ in range(3)])
    await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", NO_LEASE, 3)
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    assert (await work.requeue_stale(service), await work.requeue_stale(service)) == (2, 1)
    assert len(queue.dead_letters) == 3
    assert await work.purge_items(service, timedelta(0)) == 2


async def test_a_principal_may_not_settle_or_sweep(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    refused: list[Any] = [
        queue.work.complete(ctx, item),
        queue.work.extend_lease(ctx, item, LEASE),
        queue.work.requeue_stale(ctx),
        queue.work.purge_items(ctx, timedelta(0)),
    ]
    for operation in refused:
        with pytest.raises(NotAuthorized):
            await operation


async def test_another_org_sees_and_changes_nothing(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item(payload=FrozenMapping({"note": "ours"})))
    other = await queue.owner_of_new_org()
    operations: list[Any] = [
        queue.work.get_item,
        queue.work.cancel,
        queue.work.retry,
        queue.work.delete_item,
    ]
    for operation in operations:
        with pytest.raises(WorkItemNotFound):
            await operation(other, item.id)
    assert (await queue.work.get_status(other)).counts == ()
    assert (await queue.work.get_item(ctx, item.id)).status is WorkStatus.QUEUED
