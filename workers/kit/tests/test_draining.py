import asyncio
import logging
import threading
from datetime import timedelta

import pytest

from headrace.om.context import OpContext
from headrace.om.work.types.handler import Defer
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.threads import run_in_thread
from workers.kit.tests.workbench import Doing, bench, until


async def test_items_are_handed_back_with_a_note_when_the_worker_drains_by_release() -> None:
    async with bench(Doing(gate=asyncio.Event()), capacity=2) as one:
        items = await one.enqueue(2)
        async with one.running("claiming", "settling") as running:
            await until(lambda: one.doing.num_started == 2, "both run")
            await running.stop("claiming", "settling")
        for item in items:
            released = await one.read(item)
            assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)
            assert "draining" in (released.last_error or "")
        assert one.loop.core.held.num_held == 0


async def test_items_end_first_when_the_worker_drains_by_finish(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "headrace.workers.kit")
    gate = asyncio.Event()
    async with bench(Doing(gate=gate), drain_mode="finish") as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            await until(lambda: one.doing.num_started == 1, "it runs")
            running.stops["claiming"].set()
            await until(lambda: "draining 1 items (finish)" in caplog.text, "the drain")
            gate.set()
            await one.until_status(item, WorkStatus.DONE)


async def test_items_are_handed_back_when_the_finish_takes_longer_than_its_budget() -> None:
    async with bench(Doing(gate=asyncio.Event()), drain_mode="finish", drain_budget="10ms") as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            await until(lambda: one.doing.num_started == 1, "it runs")
            await running.stop("claiming", "settling")
        assert (await one.read(item)).status is WorkStatus.QUEUED


async def test_nothing_is_claimed_any_more_when_the_stop_is_set() -> None:
    async with bench(Doing(gate=asyncio.Event()), capacity=1) as one:
        await one.enqueue(5)
        async with one.running("claiming", "settling") as running:
            await until(lambda: one.doing.num_started == 1, "one runs")
            calls = one.storage.work.claims.num_calls
            await running.stop("claiming", "settling")
        assert one.storage.work.claims.num_calls == calls


async def test_an_item_keeps_its_lease_when_its_thread_outlives_the_cancel() -> None:
    go_on, entered = threading.Event(), threading.Event()

    def block() -> None:
        entered.set()
        go_on.wait(10)

    async with bench(Doing(act=lambda _ctx, _item: run_in_thread(block))) as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            await until(entered.is_set, "the thread runs")
            running.stops["claiming"].set()
            (claim,) = one.loop.core.held.running()
            await claim.cancelled.wait()
            assert (await one.read(item)).status is WorkStatus.CLAIMED
            assert claim in one.loop.core.held.renewable()
            go_on.set()
            await one.until_status(item, WorkStatus.QUEUED)


async def test_what_still_runs_is_left_to_its_lease_when_the_process_ends() -> None:
    async with bench(Doing(gate=asyncio.Event())) as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "it runs")
            await one.loop.settler.flush(timedelta(seconds=1))
            assert (await one.read(item)).status is WorkStatus.CLAIMED


async def test_a_handlers_own_answer_stands_when_it_gives_one_to_the_cancel() -> None:
    async def answer(_ctx: OpContext, _item: WorkItem) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise Defer(timedelta(hours=1), "half done") from None

    async with bench(Doing(act=answer)) as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            await until(lambda: one.doing.num_started == 1, "it runs")
            await running.stop("claiming", "settling")
        assert (await one.read(item)).last_error == "half done"
