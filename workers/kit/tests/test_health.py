import asyncio
import http.client
import json
import logging
import time
from datetime import timedelta
from typing import Any

import pytest

from headrace.infra.background.timing import ManualClockImpl
from headrace.om.context import OpContext
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.health import HealthLimits, LoopState
from headrace.workers.kit.lag import TICK
from workers.kit.tests.workbench import Doing, bench, passes, until

LIMITS = HealthLimits(failed_beats=3, poll_age=timedelta(minutes=2), pauses=True)


async def test_a_worker_is_unwell_when_it_has_not_looked_at_the_queue_for_too_long() -> None:
    clock = ManualClockImpl()
    state = LoopState(clock, LIMITS)
    clock.advance(timedelta(minutes=2))
    assert not state.problems()
    clock.advance(timedelta(seconds=1))
    assert state.problems() == ("the queue was last looked at 121 s ago, expected within 120 s",)
    state.note_poll()
    assert not state.problems()


async def test_a_worker_is_unwell_when_no_step_of_the_sweep_has_succeeded_for_too_long() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, poll_age_limit="1d", sweep_interval="10s", sweep_step_timeout="30s") as one:
        clock.advance(timedelta(minutes=2))
        assert not one.loop.core.state.problems()
        clock.advance(timedelta(seconds=1))
        assert one.loop.core.state.problems() == (
            "a step of the sweep last succeeded 121 s ago, expected within 120 s",
        )
        await one.loop.sweep.sweep(asyncio.Event())
        assert not one.loop.core.state.problems()


async def test_age_is_no_fault_when_the_worker_drains() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock) as one, one.running("claiming") as running:
        await running.stop("claiming")
        clock.advance(timedelta(days=1))
        assert not one.loop.core.state.problems()


async def test_a_worker_grows_unwell_only_when_its_listener_is_deaf_for_long() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, is_started=False, listener_age_limit="15m", sweep_interval="1h") as one:
        clock.advance(timedelta(minutes=15))
        assert not one.loop.core.state.problems()
        clock.advance(timedelta(seconds=1))
        (problem,) = one.loop.core.state.problems()
        assert problem == "the listener for wake-ups last heard itself 901 s ago, expected within 900 s"
        await one.parts.infra.start()
        assert not one.loop.core.state.problems()
        await one.parts.infra.close()


async def test_a_worker_is_unwell_when_a_handler_does_not_heed_its_timeout() -> None:
    gate = asyncio.Event()
    cancels: list[int] = []

    async def goes_on(_ctx: OpContext, _item: WorkItem) -> None:
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                cancels.append(1)

    async with bench(Doing(goes_on), handler_timeout="10ms", handler_overdue_limit="100ms") as one:
        await one.enqueue()
        async with one.running("overdue", "settling", "claiming"):
            await until(one.loop.core.state.problems, "the worker is unwell")
            (problem,) = one.loop.core.state.problems()
            assert "after its timeout, which it does not heed" in problem
            assert one.parts.metrics.registry.get_sample_value("headrace_worker", {"what": "overdue"}) == 1
            await until(lambda: len(cancels) >= 3, "it is cancelled again and again")
            gate.set()
            await until(lambda: not one.loop.core.state.problems(), "the worker is well again")


async def test_the_attempt_timed_out_when_the_handler_ends_by_a_later_cancel() -> None:
    cancels: list[int] = []

    async def heeds_the_second(_ctx: OpContext, _item: WorkItem) -> None:
        while len(cancels) < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancels.append(1)
        raise asyncio.CancelledError

    async with bench(Doing(heeds_the_second), handler_timeout="10ms", handler_overdue_limit="100ms") as one:
        (item,) = await one.enqueue(max_attempts=1)
        async with one.running("overdue", "settling", "claiming"):
            failed = await one.until_status(item, WorkStatus.FAILED)
    assert failed.error_code == "handler_timeout"


async def test_the_worker_counts_as_polling_when_every_slot_is_taken() -> None:
    clock = ManualClockImpl()
    settings: dict[str, Any] = {"capacity": 1, "poll_interval": "1s", "poll_age_limit": "3s"}
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **settings) as one:
        await one.enqueue()
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "it runs")
            await clock.until_waiting(2)
            for _ in range(6):
                await passes(clock, timedelta(seconds=1), waiting=2)
            assert not one.loop.core.state.problems()


async def test_a_worker_grows_unwell_when_every_claim_fails() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, poll_interval="1s", poll_age_limit="3s") as one, one.running("claiming"):
        await clock.until_waiting()
        with one.storage.work.claims.failing():
            for _ in range(4):
                await passes(clock, timedelta(seconds=1))
            assert "last looked at" in one.loop.core.state.problems()[0]


async def test_the_port_answers_with_the_reason_when_the_worker_is_unwell() -> None:
    async with bench(heartbeat_failure_limit=1) as one, one.running("server"):
        await until(lambda: one.loop.server.port != 0, "the port is bound")
        assert (await _get(one.loop.server.port, "/healthz"))[0] == 200
        one.loop.core.state.note_beat(is_good=False)
        status, body = await _get(one.loop.server.port, "/healthz")
        assert (status, json.loads(body)["problems"]) == (503, list(one.loop.core.state.problems()))
        assert (await _get(one.loop.server.port, "/readyz"))[0] == 503
        assert 'headrace_worker{what="capacity"} 10.0' in (await _get(one.loop.server.port, "/metrics"))[1]


async def test_the_kinds_at_work_are_told_when_the_event_loop_was_blocked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "headrace.workers.kit.lag")
    blocks = TICK.total_seconds() + 0.1
    doing = Doing(act=lambda _ctx, _item: time.sleep(blocks))
    async with bench(doing, loop_lag_warning="50ms") as one, one.running("lag", "settling", "claiming"):
        await one.enqueue()
        await until(lambda: "NOOP" in caplog.text, "the warning")
    assert "run_in_thread" in caplog.text


async def _get(port: int, path: str) -> tuple[int, str]:
    def ask() -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    return await asyncio.to_thread(ask)
