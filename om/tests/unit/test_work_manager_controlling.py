"""The work manager over memory: what operators say about claims, and who is woken when something may begin."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from pydantic import ValidationError

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.context import OpContext
from headrace.om.exceptions import ValidationFailed
from headrace.om.work.types.control import LimitScope, WorkControl, WorkLimit, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from om.tests.contracts.work_items import KINDS, LANE, LEASE, NO_LEASE, a_work_item
from om.tests.contracts.work_limits import org_limit
from om.tests.unit.work_queue import Queue

ONE = WorkLimit(scope=LimitScope.KIND, kind=WorkKind.NOOP, max_running=1)


async def claimed(queue: Queue, lease: timedelta = LEASE) -> list[tuple[OpContext, WorkItem]]:
    return list(await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", lease, 10))


async def woken(queue: Queue) -> str:
    return (await asyncio.wait_for(queue.woken.get(), 5)).lane


async def enqueued(queue: Queue, ctx: OpContext, *items: WorkItem) -> None:
    """Enqueue in a batch, and hear the wake-up that comes with it."""
    await queue.work.enqueue_many(ctx, items)
    assert await woken(queue) == LANE


async def test_what_is_said_holds_until_it_is_taken_back(queue: Queue, ctx: OpContext) -> None:
    await enqueued(queue, ctx, *(a_work_item() for _ in range(3)))
    await queue.work.set_control(queue.rctx, ONE, origin="tests")
    assert (await queue.work.get_controls(queue.rctx)).limits == (ONE,)
    assert len(await claimed(queue)) == 1
    assert [await queue.work.remove_control(queue.rctx, ONE) for _ in range(2)] == [True, False]
    assert len(await claimed(queue)) == 2


async def test_a_lane_that_is_resumed_is_woken(queue: Queue, ctx: OpContext) -> None:
    await enqueued(queue, ctx, a_work_item())
    await queue.work.set_control(queue.rctx, WorkPause(lane=LANE), origin="tests")
    assert await claimed(queue) == []
    await queue.work.remove_control(queue.rctx, WorkPause(lane=LANE))
    assert await woken(queue) == LANE
    assert len(await claimed(queue)) == 1


async def test_an_orgs_status_shows_the_pauses_that_it_may_wait_for(queue: Queue, ctx: OpContext) -> None:
    mine = [WorkPause(lane="slow"), WorkPause(kind=WorkKind.NOOP), WorkPause(org_id=ctx.org_id)]
    for pause in (*mine, WorkPause(org_id=new_id())):
        await queue.work.set_control(queue.rctx, pause, origin="tests")
    assert set((await queue.work.get_status(ctx)).pauses) == set(mine)


@pytest.mark.parametrize("key", ["concurrency_key", "ordering_key"])
async def test_the_end_of_an_item_with_a_key_wakes_its_lane(queue: Queue, ctx: OpContext, key: str) -> None:
    await enqueued(queue, ctx, *(a_work_item(**{key: "k"}) for _ in range(2)))
    ((claim_ctx, item),) = await claimed(queue)
    await queue.work.complete(claim_ctx, item)
    assert await woken(queue) == LANE
    assert len(await claimed(queue)) == 1


async def test_an_end_below_a_limit_wakes_the_lane(queue: Queue, ctx: OpContext) -> None:
    await queue.work.set_control(queue.rctx, ONE, origin="tests")
    await enqueued(queue, ctx, *(a_work_item() for _ in range(2)))
    ((claim_ctx, item),) = await claimed(queue)
    await queue.work.fail(claim_ctx, item, "boom")
    assert await woken(queue) == LANE


async def test_an_end_wakes_nobody_where_nothing_bounds_claims(queue: Queue, ctx: OpContext) -> None:
    await enqueued(queue, ctx, a_work_item())
    ((claim_ctx, item),) = await claimed(queue)
    await queue.work.complete(claim_ctx, item)
    await queue.wakeups.close()
    assert queue.woken.empty()


@pytest.mark.parametrize("how", ["cancel", "delete_item"])
async def test_a_head_that_an_operator_removes_wakes_the_lane(queue: Queue, ctx: OpContext, how: str) -> None:
    items = [a_work_item(ordering_key="k") for _ in range(2)]
    await enqueued(queue, ctx, *items)
    await getattr(queue.work, how)(ctx, items[0].id)
    assert await woken(queue) == LANE
    ((_, item),) = await claimed(queue)
    assert item.id == items[1].id


async def test_a_dead_letter_of_the_sweep_wakes_the_lane_of_its_key(queue: Queue, ctx: OpContext) -> None:
    items = [a_work_item(ordering_key="k", max_attempts=1) for _ in range(2)]
    await enqueued(queue, ctx, *items)
    await claimed(queue, NO_LEASE)
    (service,) = await queue.work.maintenance_contexts(queue.rctx)
    assert await queue.work.requeue_stale(service) == 1
    assert await woken(queue) == LANE
    ((_, item),) = await claimed(queue)
    assert item.id == items[1].id


@pytest.mark.parametrize("origin", ["", "x" * 101, "a\x00b"])
async def test_an_origin_that_does_not_fit_is_refused(queue: Queue, origin: str) -> None:
    with pytest.raises(ValidationFailed, match="origin"):
        await queue.work.set_control(queue.rctx, ONE, origin=origin)
    assert (await queue.work.get_controls(queue.rctx)).limits == ()


async def test_a_lane_that_cannot_be_stored_is_refused(queue: Queue) -> None:
    with pytest.raises(ValidationFailed, match="lane"):
        await queue.work.set_control(queue.rctx, WorkPause(lane="a\x00b"), origin="tests")


@pytest.mark.parametrize("field", ["concurrency_key", "ordering_key"])
async def test_a_key_that_cannot_be_stored_is_refused_and_named(queue: Queue, ctx: OpContext, field: str) -> None:
    with pytest.raises(ValidationFailed, match=field):
        await queue.work.enqueue(ctx, a_work_item(**{field: "a\x00b"}))


@pytest.mark.parametrize(
    ("control", "fields", "sentence"),
    [
        (WorkLimit, {"scope": "kind", "max_running": 1}, "kind: expected one with scope kind"),
        (WorkLimit, {"scope": "key", "max_running": 1}, "kind: expected one with scope key"),
        (WorkLimit, {"scope": "kind", "kind": "NOOP", "org_id": new_id(), "max_running": 1}, "org_id: expected none"),
        (WorkLimit, {"scope": "org", "max_running": 0}, "max_running"),
        (WorkRate, {"kind": "NOOP", "per_second": 0}, "per_second"),
        (WorkRate, {"kind": "NOOP", "per_second": 1, "burst": 0}, "burst"),
        (WorkPause, {}, "expected exactly one of them, got none"),
        (WorkPause, {"lane": "a", "kind": "NOOP"}, "expected exactly one of them, got lane, kind"),
    ],
)
def test_what_makes_no_sense_is_refused(
    control: type[WorkLimit | WorkRate | WorkPause], fields: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValidationError, match=sentence):
        control.model_validate(fields)


def test_an_item_has_one_key_at_most() -> None:
    with pytest.raises(ValidationError, match="expected none beside concurrency_key"):
        a_work_item(concurrency_key="a", ordering_key="b")


def test_a_control_is_one_of_three() -> None:
    said: list[WorkControl] = [ONE, WorkRate(kind=WorkKind.NOOP, per_second=1), WorkPause(lane="a")]
    assert len({type(each) for each in said}) == 3


@pytest.mark.parametrize("say", [lambda: WorkPause(org_id=EMPTY_UUID), lambda: org_limit(1, EMPTY_UUID)])
def test_the_empty_id_is_no_orgs(say: Callable[[], WorkControl]) -> None:
    with pytest.raises(ValidationError, match=r"org_id\n.*expected an org's id"):
        say()
