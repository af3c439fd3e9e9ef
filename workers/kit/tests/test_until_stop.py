import asyncio

import pytest

from headrace.workers.kit.until_stop import until_stop


class Step:
    def __init__(self) -> None:
        self.was_cancelled = False
        self.entered = asyncio.Event()

    async def run(self) -> None:
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


async def test_the_step_is_cut_when_the_stop_is_set() -> None:
    step, stop = Step(), asyncio.Event()
    running = asyncio.create_task(until_stop(stop, step.run()))
    await step.entered.wait()
    stop.set()
    async with asyncio.timeout(10):
        await running
    assert step.was_cancelled


async def test_the_cancel_goes_on_when_the_caller_is_cancelled() -> None:
    step = Step()
    running = asyncio.create_task(until_stop(asyncio.Event(), step.run()))
    await step.entered.wait()
    running.cancel()
    await asyncio.wait([running], timeout=10)
    assert running.cancelled()
    assert step.was_cancelled


async def test_nothing_is_awaited_any_more_when_the_step_has_ended() -> None:
    async with asyncio.timeout(10):
        await until_stop(asyncio.Event(), asyncio.sleep(0))


async def test_the_error_comes_back_when_the_step_fails() -> None:
    async def fail() -> None:
        raise ValueError("broken")

    with pytest.RaisesGroup(ValueError):
        await until_stop(asyncio.Event(), fail())
