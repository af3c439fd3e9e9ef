"""The claim loop where limits, pauses or keys hold items back: who is let in, and when."""

import asyncio
from datetime import timedelta

import pytest

from headrace.infra.background.timing import ManualClockImpl
from headrace.om.work.types.control import LimitScope, WorkControl, WorkLimit, WorkPause
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkStatus
from workers.kit.tests.workbench import Bench, Doing, bench, passes, until

ONE = WorkLimit(scope=LimitScope.KIND, kind=WorkKind.NOOP, max_running=1)


async def say(one: Bench, control: WorkControl) -> None:
    """Say it behind the worker's back: nobody is woken."""
    await one.storage.work.put_control(control, "tests")


@pytest.mark.parametrize("fields", [{"ordering_key": "k"}, {"concurrency_key": "k"}, {}], ids=["order", "key", "kind"])
async def test_an_end_lets_the_next_one_begin_without_a_poll(fields: dict[str, str]) -> None:
    async with bench(capacity=3) as one:
        await say(one, ONE)
        items = await one.enqueue(4, **fields)
        async with one.running("settling", "claiming"):
            for item in items:
                await one.until_status(item, WorkStatus.DONE)


async def test_a_free_slot_is_found_by_the_next_poll_when_its_wake_up_is_lost() -> None:
    clock, gate = ManualClockImpl(), asyncio.Event()
    async with bench(Doing(gate=gate), clock=clock, is_started=False, poll_interval="1s", capacity=2) as one:
        await one.enqueue(2, ordering_key="k")
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "the head runs")
            gate.set()
            await until(lambda: one.loop.core.held.num_held == 0, "its end is written")
            assert one.doing.num_started == 1
            await passes(clock, timedelta(seconds=1), waiting=2)
            await until(lambda: one.doing.num_started == 2, "the next one runs")


async def test_nothing_more_is_begun_within_a_poll_of_a_pause_and_what_runs_is_settled() -> None:
    clock, gate = ManualClockImpl(), asyncio.Event()
    async with bench(Doing(gate=gate), clock=clock, is_started=False, poll_interval="1s", capacity=2) as one:
        (running,) = await one.enqueue(1)
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "the first one runs")
            await say(one, WorkPause(lane="default"))
            await one.enqueue(1)
            await passes(clock, timedelta(seconds=1), waiting=2)
            gate.set()
            await one.until_status(running, WorkStatus.DONE)
            await passes(clock, timedelta(seconds=1), waiting=2)
            assert one.doing.num_started == 1
            await one.storage.work.delete_control(WorkPause(lane="default"))
            await passes(clock, timedelta(seconds=1), waiting=2)
            await until(lambda: one.doing.num_started == 2, "the second one runs")


async def test_what_is_held_back_is_shown_by_reason() -> None:
    async with bench() as one:
        await say(one, WorkPause(lane="default"))
        await one.enqueue(3)
        one.parts.metrics.show_held_back(await one.managers.work.read_held_back(one.ctx))
        shown = {
            reason: one.parts.metrics.registry.get_sample_value("headrace_queue_held_back", {"reason": reason})
            for reason in ("paused", "of_full_kinds", "out_of_order")
        }
        assert shown == {"paused": 3, "of_full_kinds": 0, "out_of_order": 0}
