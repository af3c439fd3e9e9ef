import asyncio
import threading
from datetime import timedelta

import pytest

from headrace.workers.kit.threads import run_detached, run_in_thread
from headrace.workers.kit.uninterrupted import uninterrupted


async def test_the_result_comes_back_when_the_function_returns() -> None:
    assert await run_in_thread(lambda left, right: left + right, 1, right=2) == 3


async def test_the_error_comes_back_when_the_function_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(lambda: 1 / 0)


async def test_a_cancel_goes_on_only_when_the_function_has_ended() -> None:
    go_on, entered = threading.Event(), threading.Event()

    def block() -> None:
        entered.set()
        go_on.wait(10)

    task = asyncio.create_task(run_in_thread(block))
    await asyncio.to_thread(entered.wait, 10)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_the_cancel_outranks_the_error_when_the_function_fails_after_it() -> None:
    go_on = threading.Event()

    def fail() -> None:
        go_on.wait(10)
        raise ValueError("late")

    task = asyncio.create_task(run_in_thread(fail))
    await asyncio.sleep(0)
    task.cancel()
    go_on.set()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_the_result_of_a_detached_function_comes_back_when_it_returns() -> None:
    assert await run_detached(lambda left, right: left + right, 1, right=2) == 3


async def test_a_detached_function_is_left_to_itself_when_the_caller_is_cancelled() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def block() -> None:
        go_on.wait(10)
        ended.set()

    task = asyncio.create_task(run_detached(block))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert not ended.is_set()
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 10)


class Step:
    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.entered = asyncio.Event()
        self.has_ended = False
        self.was_cancelled = False

    async def run(self) -> int:
        self.entered.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        self.has_ended = True
        return 1


async def test_the_step_is_finished_when_its_caller_is_cancelled() -> None:
    step = Step()
    task = asyncio.create_task(uninterrupted(step.run(), timedelta(seconds=10)))
    await step.entered.wait()
    task.cancel()
    await asyncio.sleep(0)
    step.gate.set()
    await asyncio.wait([task])
    assert (task.cancelled(), step.has_ended) == (True, True)


async def test_the_step_is_cut_when_it_takes_longer_than_its_limit() -> None:
    step = Step()
    task = asyncio.create_task(uninterrupted(step.run(), timedelta(milliseconds=1)))
    await step.entered.wait()
    task.cancel()
    await asyncio.wait([task])
    assert (task.cancelled(), step.was_cancelled) == (True, True)


async def test_the_step_is_cut_when_its_caller_is_cancelled_twice() -> None:
    step = Step()
    task = asyncio.create_task(uninterrupted(step.run(), timedelta(seconds=10)))
    await step.entered.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert (task.cancelled(), step.was_cancelled) == (True, True)


async def test_the_result_is_passed_on_when_nobody_cancels() -> None:
    step = Step()
    step.gate.set()
    assert await uninterrupted(step.run(), timedelta(seconds=1)) == 1
