"""A schedule that several workers fire at once, one of them with a clock that is wrong by an hour."""

from datetime import datetime, timedelta

import pytest

from headrace.om.base import FrozenMapping
from headrace.om.work.scheduling import tick_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.schedule import MissedTicks, WorkSchedule
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from tests.chaos.site import Site

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(300)]

HOUR = 3600
NUM_TICKS = 100
SECOND = timedelta(seconds=1)


async def test_each_of_a_hundred_ticks_fires_once_on_time_whoever_fires_it(site: Site) -> None:
    for shift in (0, 0, HOUR):
        await site.worker(clock_shift_seconds=shift, sweep_interval="1s", schedule_interval="1s")
    asked = WorkSchedule(
        name="every second",
        kind=WorkKind.NOOP,
        payload=FrozenMapping({"note": ""}),
        every=SECOND,
        missed=MissedTicks.ALL,
    )
    schedule = await site.queue.managers.work.create_schedule(site.queue.ctx, asked)
    assert schedule.next_fire_at is not None
    await site.queue.until_done(NUM_TICKS, within=2.5 * NUM_TICKS)
    await site.queue.managers.work.delete_schedule(site.queue.ctx, schedule.id)
    items = {item.id: item for item in await site.queue.items()}
    await site.queue.until_done(len(items))
    ticks = sorted(_tick(item) for item in items.values())
    # One more may have come between the hundredth and the removal: all of them are there, each once.
    assert ticks == [schedule.next_fire_at + place * SECOND for place in range(len(items))]
    assert len([tick for tick in ticks if tick < schedule.next_fire_at + NUM_TICKS * SECOND]) == NUM_TICKS
    for change in await site.journal.changes():
        assert change.after != WorkStatus.CLAIMED or change.at >= _tick(items[change.item_id])
    ended = await site.queue.items()
    assert {(item.status, item.attempts, item.crashes) for item in ended} == {(WorkStatus.DONE, 1, 0)}
    await site.assert_each_done_once(len(items))


def _tick(item: WorkItem) -> datetime:
    tick = tick_of(item)
    assert tick is not None
    return tick
