"""The work manager over memory: schedules."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from headrace.om.base import utcnow
from headrace.om.context import OpContext
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.work.exceptions import WorkPayloadRefused, WorkScheduleNameTaken, WorkScheduleNotFound
from headrace.om.work.scheduling import tick_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.schedule import MissedTicks, Overlap, WorkSchedule
from headrace.om.work.types.work_item import WorkItem
from om.tests.contracts.work_items import payload
from om.tests.unit.work_queue import Queue

HOUR = timedelta(hours=1)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def a_schedule(**fields: Any) -> WorkSchedule:  # noqa: ANN401 - any field
    asked = {"name": "nightly", "kind": WorkKind.NOOP, "every": HOUR, "anchor_at": utcnow()}
    return WorkSchedule.model_validate(asked | fields)


async def let_pass(queue: Queue, ctx: OpContext, schedule: WorkSchedule, ticks: int = 1) -> None:
    """Let the schedule wait for a tick that came some intervals ago, which is as if the time had passed."""
    storage = queue.storage.get_work_storage()
    assert schedule.every is not None
    now = await storage.read_clock()
    anchored = schedule.model_copy(update={"anchor_at": now, "next_fire_at": now - (ticks - 1) * schedule.every})
    assert await storage.write_schedule(ctx.org_id, anchored)


async def items_of(queue: Queue, ctx: OpContext) -> tuple[WorkItem, ...]:
    return await queue.work.get_items(ctx, WorkFilter(), 100)


async def test_a_schedule_is_written_waiting_for_its_first_tick_after_now(queue: Queue, ctx: OpContext) -> None:
    sent = a_schedule(created_by=uuid4(), next_fire_at=LONG_AGO, last_fired_at=LONG_AGO, last_error="old")
    written = await queue.work.create_schedule(ctx, sent)
    assert written == await queue.work.get_schedule(ctx, sent.id)
    assert (written.created_by, written.last_fired_at, written.last_error) == (ctx.user_id, None, None)
    assert written.next_fire_at is not None
    assert timedelta(0) < written.next_fire_at - utcnow() <= HOUR
    assert await queue.work.create_schedule(ctx, sent.model_copy(update={"priority": 9})) == written
    assert await queue.work.get_schedules(ctx, 10) == (written,)


async def test_each_tick_becomes_one_item_whoever_fires_and_how_often(queue: Queue, ctx: OpContext) -> None:
    asked = a_schedule(payload=payload(note="hi"), lane="reports", priority=4, max_attempts=7)
    schedule = await queue.work.create_schedule(ctx, asked)
    await let_pass(queue, ctx, schedule)
    assert [await queue.work.fire_schedules(queue.rctx, 10) for _ in range(3)] == [1, 0, 0]
    (item,) = await items_of(queue, ctx)
    fired = await queue.work.get_schedule(ctx, schedule.id)
    assert (item.payload, item.lane, item.priority, item.max_attempts) == (payload(note="hi"), "reports", 4, 7)
    assert (item.created_by, item.origin, tick_of(item)) == (ctx.user_id, "schedule:nightly", fired.last_fired_at)
    assert fired.next_fire_at is not None
    assert fired.next_fire_at > utcnow()
    assert (await queue.woken.get()).lane == "reports"


async def test_ticks_of_an_outage_are_made_up_for_as_the_schedule_says(queue: Queue, ctx: OpContext) -> None:
    for missed, num_items in ((MissedTicks.SKIP, 1), (MissedTicks.ONE, 2), (MissedTicks.ALL, 5)):
        schedule = await queue.work.create_schedule(ctx, a_schedule(name=missed.value, missed=missed))
        await let_pass(queue, ctx, schedule, ticks=5)
        assert await queue.work.fire_schedules(queue.rctx, 10) == num_items


async def test_a_tick_is_left_out_while_the_last_item_has_not_settled(queue: Queue, ctx: OpContext) -> None:
    schedule = await queue.work.create_schedule(ctx, a_schedule(overlap=Overlap.SKIP))
    for num_enqueued in (1, 0):
        await let_pass(queue, ctx, schedule)
        assert await queue.work.fire_schedules(queue.rctx, 10) == num_enqueued
    (item,) = await items_of(queue, ctx)
    await queue.work.cancel(ctx, item.id)
    await let_pass(queue, ctx, schedule)
    assert await queue.work.fire_schedules(queue.rctx, 10) == 1


async def test_a_disabled_schedule_rests_and_makes_up_for_nothing_when_it_goes_on(queue: Queue, ctx: OpContext) -> None:
    schedule = await queue.work.create_schedule(ctx, a_schedule(is_enabled=False, missed=MissedTicks.ALL))
    assert schedule.next_fire_at is None
    assert await queue.work.time_to_next_tick(queue.rctx) is None
    enabled = await queue.work.change_schedule(ctx, schedule.with_changes(is_enabled=True, anchor_at=LONG_AGO))
    assert enabled.next_fire_at is not None
    assert enabled.next_fire_at > utcnow()
    assert await queue.work.fire_schedules(queue.rctx, 10) == 0
    left = await queue.work.time_to_next_tick(queue.rctx)
    assert left is not None
    assert timedelta(0) < left <= HOUR


@pytest.mark.parametrize(
    "strange",
    [
        {"every": None, "anchor_at": None, "cron": "0 * * * *", "time_zone": "Europe/Atlantis"},
        {"every": None, "anchor_at": None, "cron": "never"},
        {"kind": WorkKind.read("FROM_LATER")},
        {"payload": payload(nothing_like=1)},
    ],
    ids=["zone", "cron", "kind", "payload"],
)
async def test_a_schedule_that_cannot_be_read_is_disabled_all_the_same_and_not_enabled_again(
    queue: Queue, ctx: OpContext, strange: dict[str, Any]
) -> None:
    storage = queue.storage.get_work_storage()
    there = a_schedule(next_fire_at=LONG_AGO, **strange)
    await storage.create_schedule(ctx.org_id, there)
    disabled = await queue.work.change_schedule(ctx, there.with_changes(is_enabled=False))
    assert (disabled.is_enabled, disabled.next_fire_at) == (False, None)
    assert await queue.work.fire_schedules(queue.rctx, 10) == 0
    with pytest.raises(ValidationFailed):
        await queue.work.change_schedule(ctx, disabled.with_changes(is_enabled=True))
    with pytest.raises(ValidationFailed):
        await queue.work.change_schedule(ctx, disabled.with_changes(priority=3))
    assert await queue.work.get_schedule(ctx, there.id) == disabled


async def test_an_item_that_is_refused_is_told_and_holds_up_no_other(queue: Queue, ctx: OpContext) -> None:
    storage = queue.storage.get_work_storage()
    strange = a_schedule(name="strange", payload=payload(nothing_like=1), next_fire_at=LONG_AGO)
    await storage.create_schedule(ctx.org_id, strange)
    good = await queue.work.create_schedule(ctx, a_schedule(name="good"))
    await let_pass(queue, ctx, good)
    assert await queue.work.fire_schedules(queue.rctx, 10) == 1
    told = await queue.work.get_schedule(ctx, strange.id)
    assert told.last_error is not None
    assert "nothing_like" in told.last_error
    assert told.last_fired_at is None
    assert told.next_fire_at is not None
    assert told.next_fire_at > utcnow()


async def test_a_timing_that_cannot_be_read_is_told_and_holds_up_no_other(queue: Queue, ctx: OpContext) -> None:
    storage = queue.storage.get_work_storage()
    gone = {"every": None, "anchor_at": None, "cron": "0 * * * *", "time_zone": "Europe/Atlantis"}
    await storage.create_schedule(ctx.org_id, a_schedule(name="strange", next_fire_at=LONG_AGO, **gone))
    good = await queue.work.create_schedule(ctx, a_schedule(name="good"))
    await let_pass(queue, ctx, good)
    assert [await queue.work.fire_schedules(queue.rctx, 1) for _ in range(2)] == [0, 1]
    told = next(each for each in await queue.work.get_schedules(ctx, 10) if each.name == "strange")
    assert told.last_error is not None
    assert told.last_error.startswith("time_zone: ")
    assert told.next_fire_at is not None
    assert told.next_fire_at > utcnow()


async def test_a_schedule_of_an_org_that_is_gone_fires_nothing_and_goes_on(queue: Queue, ctx: OpContext) -> None:
    schedule = await queue.work.create_schedule(ctx, a_schedule())
    await let_pass(queue, ctx, schedule)
    await queue.tenancy.delete_org(ctx)
    assert await queue.work.fire_schedules(queue.rctx, 10) == 0
    storage = queue.storage.get_work_storage()
    told = await storage.read_schedule(ctx.org_id, schedule.id)
    assert told is not None
    assert told.last_error == "the org does not work now, so nothing was enqueued"
    assert await storage.read_due_schedules(10) == ()
    assert ctx.org_id in await queue.work.get_orphaned_orgs(queue.rctx)
    await queue.work.purge_orphaned(ctx.org_id, HOUR)
    assert await storage.read_schedule(ctx.org_id, schedule.id) is None


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"every": None, "anchor_at": None, "cron": "0 0 32 * *"}, "cron"),
        ({"every": None, "anchor_at": None, "cron": "@daily"}, "cron: expected five fields"),
        ({"every": None, "anchor_at": None, "cron": ""}, "cron: expected five fields"),
        ({"every": None, "anchor_at": None, "cron": "0 0 * * *", "time_zone": "Mars/Base"}, "time_zone"),
        ({"name": "nul\x00"}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"lane": "\ud800"}, "lane"),
        ({"payload": payload(nothing_like=1)}, "payload.nothing_like"),
        ({"kind": WorkKind.read("FROM_LATER")}, "kind"),
    ],
)
async def test_what_does_not_fit_is_refused_by_its_field_and_nothing_is_written(
    queue: Queue, ctx: OpContext, fields: dict[str, Any], field: str
) -> None:
    odd = a_schedule().model_copy(update=fields)
    with pytest.raises(ValidationFailed, match=rf"^{field}\b"):
        await queue.work.create_schedule(ctx, odd)
    there = await queue.work.create_schedule(ctx, a_schedule())
    with pytest.raises((ValidationFailed, WorkPayloadRefused), match=rf"^{field}\b"):
        await queue.work.change_schedule(ctx, odd.model_copy(update={"id": there.id}))
    assert await queue.work.get_schedules(ctx, 10) == (there,)


async def test_a_name_is_one_schedules_own(queue: Queue, ctx: OpContext) -> None:
    await queue.work.create_schedule(ctx, a_schedule())
    second = await queue.work.create_schedule(ctx, a_schedule(name="second"))
    with pytest.raises(WorkScheduleNameTaken, match="nightly"):
        await queue.work.create_schedule(ctx, a_schedule())
    with pytest.raises(WorkScheduleNameTaken, match="nightly"):
        await queue.work.change_schedule(ctx, second.with_changes(name="nightly"))


async def test_what_is_not_there_is_said(queue: Queue, ctx: OpContext) -> None:
    with pytest.raises(WorkScheduleNotFound):
        await queue.work.get_schedule(ctx, uuid4())
    with pytest.raises(WorkScheduleNotFound):
        await queue.work.change_schedule(ctx, a_schedule())
    with pytest.raises(WorkScheduleNotFound):
        await queue.work.delete_schedule(ctx, uuid4())


async def test_a_removed_schedule_fires_no_more(queue: Queue, ctx: OpContext) -> None:
    schedule = await queue.work.create_schedule(ctx, a_schedule())
    await let_pass(queue, ctx, schedule)
    await queue.work.delete_schedule(ctx, schedule.id)
    assert await queue.work.fire_schedules(queue.rctx, 10) == 0
    assert await queue.work.get_schedules(ctx, 10) == ()


async def test_schedules_are_for_who_operates(queue: Queue, ctx: OpContext) -> None:
    powerless = ctx.model_copy(update={"security": ctx.security.model_copy(update={"permissions": frozenset()})})
    refused: list[Any] = [
        queue.work.create_schedule(powerless, a_schedule()),
        queue.work.change_schedule(powerless, a_schedule()),
        queue.work.get_schedule(powerless, uuid4()),
        queue.work.get_schedules(powerless, 1),
        queue.work.delete_schedule(powerless, uuid4()),
    ]
    for each in refused:
        with pytest.raises(NotAuthorized):
            await each
