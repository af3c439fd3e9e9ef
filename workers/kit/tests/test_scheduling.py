"""When a worker fires schedules."""

import asyncio
from datetime import datetime, timedelta

from headrace.om.base import utcnow
from headrace.om.context import RequestContext
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.schedule import WorkSchedule
from headrace.workers.kit.scheduling import SHORTEST_REST, ScheduleTask
from workers.kit.tests.workbench import APP, Bench, bench, until

INTERVAL = timedelta(seconds=5)
EVERY = timedelta(hours=1)


def task_of(one: Bench) -> ScheduleTask:
    return ScheduleTask(APP, one.managers.work, INTERVAL, one.loop.core)


async def put(one: Bench, tick: datetime, name: str = "often") -> None:
    """Set up a schedule that waits for a tick, as if it had been there for long."""
    schedule = WorkSchedule(name=name, kind=WorkKind.NOOP, every=EVERY, anchor_at=tick, next_fire_at=tick)
    await one.parts.storage.get_work_storage().create_schedule(one.ctx.org_id, schedule)


async def num_waiting(one: Bench) -> int:
    return (await one.managers.work.read_gauges(RequestContext(app=APP))).num_queued


async def test_a_worker_rests_until_the_next_tick_or_an_interval() -> None:
    async with bench() as one:
        assert await task_of(one).fire() == INTERVAL
        await put(one, utcnow() + EVERY)
        assert await task_of(one).fire() == INTERVAL
        await put(one, utcnow() + timedelta(seconds=2), "soon")
        assert timedelta(0) < await task_of(one).fire() <= timedelta(seconds=2)
        assert await num_waiting(one) == 0


async def test_a_tick_that_has_come_is_fired_and_leaves_a_short_rest_at_least() -> None:
    async with bench() as one:
        await put(one, utcnow() - timedelta(seconds=1))
        assert SHORTEST_REST <= await task_of(one).fire() <= INTERVAL
        assert await num_waiting(one) == 1


async def test_a_worker_fires_until_it_is_stopped() -> None:
    async with bench() as one:
        stop = asyncio.Event()
        running = asyncio.create_task(task_of(one).run(stop))
        await put(one, utcnow())

        async def has_fired() -> bool:
            return await num_waiting(one) == 1

        await until(has_fired, "the tick is fired")
        stop.set()
        await running


async def test_a_failure_is_counted_and_the_tick_is_fired_after_it() -> None:
    async with bench() as one:
        await put(one, utcnow())
        task = task_of(one)
        with one.storage.work.schedules.failing():
            rests = [await task.fire() for _ in range(3)]
        assert rests == sorted(set(rests))
        assert await num_waiting(one) == 0
        await task.fire()
        assert await num_waiting(one) == 1
        registry = one.parts.metrics.registry
        assert registry.get_sample_value("headrace_loop_errors_total", {"loop": "schedules"}) == 3
