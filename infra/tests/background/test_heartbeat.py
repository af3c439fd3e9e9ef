import asyncio
from datetime import timedelta
from typing import override

import pytest

from headrace.infra.background.heartbeat import HeartbeatTask
from headrace.infra.background.signals import HeartbeatInterface
from headrace.infra.background.timing import ManualClockImpl
from infra.tests.background.life import BOUND, Context, opened, runtime, spec, wait_for_ever

INTERVAL = timedelta(seconds=5)


class CountedHeartbeat(HeartbeatInterface):
    def __init__(self) -> None:
        self.num_beats = 0
        self.num_clears = 0

    @override
    def beat(self) -> None:
        self.num_beats += 1

    @override
    def clear(self) -> None:
        self.num_clears += 1


async def test_the_heart_beats_at_once_and_at_every_interval_until_stopped() -> None:
    heartbeat, clock, stop = CountedHeartbeat(), ManualClockImpl(), asyncio.Event()
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        group.create_task(HeartbeatTask(heartbeat, INTERVAL, clock).run(None, stop))
        for beats in (1, 2, 3):
            await clock.until_waiting()
            assert heartbeat.num_beats == beats
            clock.advance(INTERVAL)
        await clock.until_waiting()
        stop.set()
    assert heartbeat.num_beats == 4


async def test_the_heart_does_not_beat_when_stopped_before() -> None:
    heartbeat, stop = CountedHeartbeat(), asyncio.Event()
    stop.set()
    await HeartbeatTask(heartbeat, INTERVAL).run(None, stop)
    assert heartbeat.num_beats == 0


async def test_the_heart_stops_with_the_process_when_another_task_fails() -> None:
    heartbeat, clock = CountedHeartbeat(), ManualClockImpl()

    async def fails_later(_context: Context, _stop: asyncio.Event) -> None:
        await clock.until_waiting()
        raise ValueError("broken")

    beating = HeartbeatTask(heartbeat, INTERVAL, clock)
    life = runtime(
        spec(beating.run, name="heartbeat"),
        spec(fails_later),
        spec(wait_for_ever),
        resources=opened(Context()),
        heartbeat=heartbeat,
    )
    with pytest.raises(ExceptionGroup):
        await life.run(asyncio.Event())
    clock.advance(INTERVAL)
    assert heartbeat.num_beats == 1
    assert heartbeat.num_clears == 2
