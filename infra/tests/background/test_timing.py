import asyncio
import time
from datetime import timedelta

import pytest

from headrace.infra.background.timing import ClockInterface, ManualClockImpl, SystemClockImpl, wait_stopped
from infra.tests.background.life import BOUND, already_set

HOUR = timedelta(hours=1)


@pytest.fixture(params=[SystemClockImpl, ManualClockImpl])
def clock(request: pytest.FixtureRequest) -> ClockInterface:
    made: ClockInterface = request.param()
    return made


async def until_all_wait() -> None:
    """Lets every task that can run do so until it waits for something."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_wait_ends_at_once_when_stop_is_already_set(clock: ClockInterface) -> None:
    assert await asyncio.wait_for(clock.wait_stopped(already_set(), HOUR), BOUND) is True


async def test_a_wait_ends_when_stop_is_set_meanwhile(clock: ClockInterface) -> None:
    stop = asyncio.Event()
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        waiting = group.create_task(clock.wait_stopped(stop, HOUR))
        await until_all_wait()
        assert not waiting.done()
        stop.set()
    assert waiting.result() is True


async def test_a_wait_ends_without_stop_when_woken(clock: ClockInterface) -> None:
    stop, wake = asyncio.Event(), asyncio.Event()
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        waiting = group.create_task(clock.wait_stopped(stop, HOUR, wake=wake))
        await until_all_wait()
        wake.set()
    assert waiting.result() is False
    assert wake.is_set()


@pytest.mark.parametrize("no_time", [timedelta(0), timedelta(seconds=-1)])
async def test_a_wait_for_no_time_lets_others_run(clock: ClockInterface, no_time: timedelta) -> None:
    ran = False

    async def other() -> None:
        nonlocal ran
        ran = True

    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        group.create_task(other())
        assert await clock.wait_stopped(asyncio.Event(), no_time) is False
        assert ran


async def test_a_cancelled_wait_leaves_no_task_behind(clock: ClockInterface) -> None:
    before = asyncio.all_tasks()
    waiting = asyncio.create_task(clock.wait_stopped(asyncio.Event(), HOUR, wake=asyncio.Event()))
    await until_all_wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert asyncio.all_tasks() == before


async def test_an_outer_timeout_is_not_taken_for_the_wait_s_own(clock: ClockInterface) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await clock.wait_stopped(asyncio.Event(), HOUR)


async def test_the_host_s_clock_ends_a_wait_by_time() -> None:
    assert await asyncio.wait_for(wait_stopped(asyncio.Event(), timedelta(milliseconds=1)), BOUND) is False


async def test_the_host_s_clock_never_goes_back_and_measures() -> None:
    clock = SystemClockImpl()
    first = clock.monotonic()
    assert clock.elapsed(since=first) >= timedelta(0)


async def test_the_host_s_clock_counts_a_suspend_where_the_host_can() -> None:
    reading, boot_time = SystemClockImpl().monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)
    assert abs(boot_time - reading) < BOUND


async def test_a_manual_clock_ends_only_the_waits_that_are_due() -> None:
    clock, stop = ManualClockImpl(), asyncio.Event()
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        short = group.create_task(clock.wait_stopped(stop, timedelta(seconds=5)))
        long = group.create_task(clock.wait_stopped(stop, timedelta(seconds=50)))
        await clock.until_waiting(2)
        clock.advance(timedelta(seconds=5))
        assert await short is False
        await clock.until_waiting(1)
        assert not long.done()
        clock.advance(timedelta(seconds=45))
        assert await long is False
    assert clock.elapsed(since=1_000.0) == timedelta(seconds=50)
    assert clock.num_waiting == 0
