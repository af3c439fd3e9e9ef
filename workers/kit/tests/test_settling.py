import asyncio
import logging
from datetime import timedelta
from typing import override

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics import Topics
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.exceptions import ValidationFailed
from headrace.om.root import Infra
from headrace.om.work.types.handler import Done
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from workers.kit.tests.workbench import Bench, Doing, bench, until


async def test_what_ends_together_is_written_together_when_many_items_end() -> None:
    gate = asyncio.Event()
    async with bench(Doing(gate=gate), capacity=10) as one:
        items = await one.enqueue(10)
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 10, "all run")
            gate.set()
            for item in items:
                await one.until_status(item, WorkStatus.DONE)
        assert one.storage.work.settlements.num_calls == 1


async def test_a_settlement_is_tried_again_when_the_database_refused_for_now() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming"):
            with one.storage.work.settlements.failing():
                await until(lambda: one.storage.work.settlements.num_calls >= 3, "refusals")
                assert (await one.read(item)).status is WorkStatus.CLAIMED
            await one.until_status(item, WorkStatus.DONE)
        assert one.doing.num_started == 1


async def test_what_waits_is_still_written_when_the_settler_is_stopped() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            with one.storage.work.settlements.hanging():
                await one.storage.work.settlements.reached.wait()
                running.stops["claiming"].set()
                running.stops["settling"].set()
            await one.until_status(item, WorkStatus.DONE)


async def test_the_settler_gives_up_at_its_limit_when_the_database_stays_away(caplog: pytest.LogCaptureFixture) -> None:
    async with bench(flush_budget="20ms") as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            with one.storage.work.settlements.failing():
                await until(lambda: one.loop.core.held.num_unsettled == 1, "an end waits")
                await running.stop("claiming", "settling")
                caplog.set_level(logging.ERROR, "headrace.workers.kit")
                await one.loop.settler.flush(timedelta(seconds=1))
        assert str(item.id) in caplog.text
        assert vars(caplog.records[-1])["org_id"] == one.ctx.org_id
        assert one.count("headrace_settlements_unwritten_total") == 1


async def test_what_was_cut_off_is_written_when_the_process_ends() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        settling = asyncio.create_task(one.loop.settling.run(asyncio.Event()))
        async with one.running("claiming"):
            with one.storage.work.settlements.hanging():
                await one.storage.work.settlements.reached.wait()
                settling.cancel()
                await asyncio.wait([settling])
            await one.loop.settler.flush(timedelta(seconds=5))
            assert (await one.read(item)).status is WorkStatus.DONE


async def test_settlements_are_left_to_the_sweep_when_they_are_refused_for_good() -> None:
    async with bench() as one:
        items = await one.enqueue(3)
        async with one.running("claiming", "settling"):
            with one.storage.work.settlements.failing(ValidationFailed("value", "something storable")):
                await until(lambda: one.count("headrace_settlements_unwritten_total") == 3, "all are given up")
        assert {(await one.read(item)).status for item in items} == {WorkStatus.CLAIMED}


async def test_a_late_settlement_changes_nothing_and_is_counted_when_the_claim_is_lost() -> None:
    gate = asyncio.Event()
    async with bench(Doing(gate=gate)) as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "it runs")
            await one.steal(item)
            gate.set()
            await until(lambda: one.loop.core.held.num_held == 0, "the settlement is answered")
        assert (await one.read(item)).status is WorkStatus.CLAIMED
        assert one.count("headrace_settlement_conflicts_total") == 1


async def test_neighbours_are_written_when_one_settlement_is_refused_for_good() -> None:
    async with bench() as one:
        poison, *others = await one.enqueue(3)
        one.storage.work.refuses.add(poison.id)
        async with one.running("claiming", "settling"):
            for item in others:
                await one.until_status(item, WorkStatus.DONE)
            await until(lambda: one.count("headrace_settlements_unwritten_total") == 1, "the poison is given up")
        assert (await one.read(poison)).status is WorkStatus.CLAIMED


async def test_what_was_refused_is_tried_again_when_the_settler_is_stopped() -> None:
    async with bench(flush_budget="10s") as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling") as running:
            with one.storage.work.settlements.failing():
                await until(lambda: one.loop.core.held.num_unsettled == 1, "an end waits")
                running.stops["claiming"].set()
                running.stops["settling"].set()
                calls = one.storage.work.settlements.num_calls
                await until(lambda: one.storage.work.settlements.num_calls > calls + 3, "more tries")
            await one.until_status(item, WorkStatus.DONE)


async def test_a_settlement_is_no_conflict_when_only_its_answer_was_lost() -> None:
    async with bench(Doing(act=lambda _ctx, _item: Done(then=[Bench.item(lane="next")]))) as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling"):
            with one.storage.work.settled.failing():
                await one.until_status(item, WorkStatus.DONE)
                await until(lambda: one.storage.work.settled.num_calls >= 3, "lost answers")
            await until(lambda: one.loop.core.held.num_held == 0, "the settlement is answered")
        assert one.count("headrace_settlement_conflicts_total") == 0
        assert one.count("headrace_settlements_total", outcome="done") == 1
        assert len(await one.managers.work.get_items(one.ctx, WorkFilter(lane="next"), 10)) == 1


class ListeningElsewhere(TopicsInProcessImpl):
    """As over a backend: whether another process listens cannot be known."""

    @override
    def has_listeners(self, topic: Topics) -> bool | None:
        return None


async def test_who_waits_in_another_process_is_told_when_the_setting_asks_for_it() -> None:
    infra = Infra.over(cache=CacheMemoryImpl(), topics=ListeningElsewhere(), secrets=SecretsEnvImpl())
    async with bench(infra=infra, settlement_messages=True) as one:
        (item,) = await one.enqueue()
        waiting = asyncio.create_task(
            one.managers.work.wait_settled(one.ctx, item.id, timedelta(minutes=1), poll_interval=timedelta(minutes=1))
        )
        async with one.running("claiming", "settling"):
            assert (await asyncio.wait_for(waiting, 5)).status is WorkStatus.DONE


async def test_nothing_is_remembered_of_an_item_when_it_is_settled() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        async with one.running("claiming", "settling"):
            await one.until_status(item, WorkStatus.DONE)
            await until(lambda: one.loop.core.held.num_held == 0, "it is struck out")
        assert not one.loop.core.held._tokens  # noqa: SLF001 - a leak shows nowhere else
