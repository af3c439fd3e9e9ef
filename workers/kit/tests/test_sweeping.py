import asyncio
import logging
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

import pytest

from headrace.infra.background.timing import ManualClockImpl
from headrace.infra.topics import OutboxPending, Topics
from headrace.om.base import utcnow
from headrace.om.context import RequestContext
from headrace.om.exceptions import Unavailable, ValidationFailed
from headrace.om.outbox.types.relay_report import RelayReport
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit import sweep_steps
from headrace.workers.kit.sweeping import SweepPlan, SweepStep, SweepTask
from workers.kit.tests.workbench import APP, Bench, bench, until

PLAN = SweepPlan(APP, interval=timedelta(seconds=30), jitter=0.3, step_timeout=timedelta(seconds=5))


class Step:
    """A step that counts its runs and fails or hangs when told to."""

    def __init__(self, *, error: Exception | None = None, hangs: bool = False) -> None:
        self.num_runs = 0
        self._error = error
        self._hangs = hangs

    async def run(self, _rctx: RequestContext) -> int:
        self.num_runs += 1
        if self._error is not None:
            raise self._error
        if self._hangs:
            await asyncio.Event().wait()
        return 1


def _has_run(step: Step, num_runs: int) -> bool:
    return step.num_runs == num_runs


async def claimed_and_abandoned(one: Bench, num: int = 1) -> WorkItem:
    (item,) = await one.enqueue()
    await one.managers.work.claim_many(
        RequestContext(app=APP), "default", one.parts.registry.kinds, "dead worker", timedelta(milliseconds=1), num
    )
    await until(lambda: _has_passed_leases(one), "a passed lease")  # on the storage's clock, which is the wall's
    return item


async def _has_passed_leases(one: Bench) -> bool:
    return one.ctx.org_id in await one.managers.work.get_stale_orgs(RequestContext(app=APP), 10)


async def test_items_of_a_dead_worker_are_queued_again_when_the_sweep_passes() -> None:
    async with bench() as one:
        item = await claimed_and_abandoned(one)
        assert await one.loop.sweep.sweep(asyncio.Event())
        swept = await one.read(item)
        assert (swept.status, swept.crashes) == (WorkStatus.QUEUED, 1)
        assert one.loop.core.state.age("sweep") < timedelta(seconds=5)


async def test_items_are_queued_again_when_those_of_another_org_cannot_be(caplog: pytest.LogCaptureFixture) -> None:
    async with bench() as one:
        org, owner = Org(name="Other", id=UUID(int=one.ctx.org_id.int - 1)), User(name="Other", login_name="other")
        other = await one.managers.tenancy.create_org(RequestContext(app=APP), org, owner)
        await one.managers.work.enqueue(other, WorkItem(kind=WorkKind.NOOP, origin="test", lane="default"))
        item = await claimed_and_abandoned(one, num=2)
        one.storage.work.stuck.add(other.org_id)
        assert not await one.loop.sweep.sweep(asyncio.Event())
        assert (await one.read(item)).status is WorkStatus.QUEUED
        assert f"org {other.org_id}" in caplog.text


async def test_items_are_failed_when_their_org_is_gone() -> None:
    async with bench() as one:
        item = await claimed_and_abandoned(one)
        await one.managers.tenancy.delete_org(one.ctx)
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert (await one.read(item)).status is WorkStatus.FAILED


async def test_settled_items_are_purged_when_their_retention_has_passed() -> None:
    async with bench(retain_settled_items="0s") as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming"):
            await one.until_status(item, WorkStatus.DONE)
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert (await one.managers.work.get_status(one.ctx)).counts == ()


RETENTIONS = ("settled_items", "done_outbox_rows", "webhook_messages", "deleted_records")
AT_ONCE: dict[str, Any] = {"purge_interval": "0s"} | {f"retain_{each}": "0s" for each in RETENTIONS}


async def test_an_item_due_in_a_year_is_failed_when_its_org_is_gone() -> None:
    async with bench() as one:
        (item,) = await one.enqueue(available_at=utcnow() + timedelta(days=365))
        await one.managers.tenancy.delete_org(one.ctx)
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert (await one.read(item)).status is WorkStatus.FAILED


async def test_items_of_an_org_that_is_gone_are_purged_when_their_retention_has_passed() -> None:
    async with bench(**AT_ONCE) as one:
        await one.enqueue(available_at=utcnow() + timedelta(days=365))
        await one.managers.tenancy.delete_org(one.ctx)
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert (await one.managers.work.get_status(one.ctx)).counts == ()


async def test_messages_are_purged_when_their_retention_has_passed() -> None:
    async with bench(**AT_ONCE, sweep_limit=2) as one:
        for _ in range(5):
            await one.managers.webhooks.publish(one.ctx, "order.created", "{}")
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert await one.managers.webhooks.get_messages(one.ctx) == ()


async def test_messages_stay_when_their_retention_has_not_passed() -> None:
    async with bench() as one:
        await one.managers.webhooks.publish(one.ctx, "order.created", "{}")
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert len(await one.managers.webhooks.get_messages(one.ctx)) == 1


async def test_a_deleted_org_is_removed_with_all_it_owns_when_its_retention_has_passed() -> None:
    async with bench(**AT_ONCE) as one:
        await with_an_endpoint_and_a_message(one)
        await one.managers.tenancy.delete_org(one.ctx)
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert await one.storage.get_tenancy_storage().read_org(one.ctx.org_id) is None
        assert await one.managers.webhooks.get_endpoints(one.ctx) == ()
        assert await one.managers.webhooks.get_messages(one.ctx) == ()
        events = await one.managers.events.get_events(one.ctx, limit=100)
        assert "deleted" in {event.change for event in events}


async def test_a_deleted_org_stays_with_all_it_owns_when_its_retention_has_not_passed() -> None:
    async with bench() as one:
        await with_an_endpoint_and_a_message(one)
        await one.managers.tenancy.delete_org(one.ctx)
        assert await one.loop.sweep.sweep(asyncio.Event())
        assert await one.storage.get_tenancy_storage().read_org(one.ctx.org_id) is not None
        assert len(await one.managers.webhooks.get_endpoints(one.ctx)) == 1
        assert len(await one.managers.webhooks.get_messages(one.ctx)) == 1


async def with_an_endpoint_and_a_message(one: Bench) -> None:
    reference = f"env:{secret_name(one.ctx.org_id, 'HOOK')}"
    wanted = WebhookEndpoint(name="shop", url="https://example.com/", secret_reference=reference)
    await one.managers.webhooks.add_endpoint(one.ctx, wanted)
    await one.managers.webhooks.publish(one.ctx, "order.created", "{}")


async def test_an_item_is_a_dead_letter_when_it_crashed_as_often_as_the_setting_says() -> None:
    async with bench(max_crashes=1) as one:
        item = await claimed_and_abandoned(one)
        assert await one.loop.sweep.sweep(asyncio.Event())
        swept = await one.read(item)
        assert (swept.status, swept.crashes) == (WorkStatus.FAILED, 1)


async def test_the_queue_is_shown_when_the_sweep_passes() -> None:
    async with bench() as one:
        await one.enqueue(3)
        await one.loop.sweep.sweep(asyncio.Event())
        sample = one.parts.metrics.registry.get_sample_value("headrace_queue_items", {"state": "queued"})
        assert sample == 3


async def test_the_other_steps_run_when_one_fails_and_one_hangs(caplog: pytest.LogCaptureFixture) -> None:
    bad, slow, good = Step(error=RuntimeError("boom")), Step(hangs=True), Step()
    plan = SweepPlan(APP, PLAN.interval, PLAN.jitter, step_timeout=timedelta(milliseconds=5))
    caplog.set_level(logging.ERROR)
    async with bench() as one:
        steps = [SweepStep(name, step.run) for name, step in (("bad", bad), ("slow", slow), ("good", good))]
        assert not await SweepTask(plan, steps, one.loop.core).sweep(asyncio.Event())
    assert (bad.num_runs, slow.num_runs, good.num_runs) == (1, 1, 1)
    assert "boom" in caplog.text


async def test_a_rare_step_waits_for_its_turn_when_passes_are_more_frequent() -> None:
    clock, step = ManualClockImpl(), Step()
    async with bench(clock=clock) as one:
        task = SweepTask(PLAN, [SweepStep("rare", step.run, every=timedelta(minutes=10))], one.loop.core)
        for _ in range(3):
            await task.sweep(asyncio.Event())
        assert step.num_runs == 1
        clock.advance(timedelta(minutes=10))
        await task.sweep(asyncio.Event())
        assert step.num_runs == 2


async def test_passes_are_spread_around_the_interval_when_the_timer_runs() -> None:
    clock, step = ManualClockImpl(), Step()
    async with bench(clock=clock) as one:
        task = SweepTask(PLAN, [SweepStep("step", step.run)], one.loop.core, Random(1))  # noqa: S311 - spread
        stop = asyncio.Event()
        running = asyncio.create_task(task.run(stop))
        for num_runs in (1, 2, 3):
            await clock.until_waiting()
            clock.advance(PLAN.interval * (1 + PLAN.jitter))
            await until(partial(_has_run, step, num_runs), "a pass")
        stop.set()
        await running


async def test_no_further_step_begins_when_the_stop_is_set() -> None:
    stop, later = asyncio.Event(), Step()

    async def stops(_rctx: RequestContext) -> int:
        stop.set()
        return 0

    async with bench() as one:
        steps = [SweepStep("stops", stops), SweepStep("later", later.run)]
        await SweepTask(PLAN, steps, one.loop.core).sweep(stop)
    assert later.num_runs == 0


async def test_a_step_is_cut_when_the_stop_is_set() -> None:
    stop, slow = asyncio.Event(), Step(hangs=True)
    plan = SweepPlan(APP, interval=timedelta(milliseconds=1), jitter=0, step_timeout=timedelta(hours=1))
    async with bench() as one:
        running = asyncio.create_task(SweepTask(plan, [SweepStep("slow", slow.run)], one.loop.core).run(stop))
        await until(partial(_has_run, slow, 1), "the step")
        stop.set()
        await asyncio.wait([running], timeout=10)
        assert running.done()
        await running


async def test_no_further_batch_is_relayed_when_the_stop_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_steps, "RELAY_BATCH", 1)
    stop = asyncio.Event()
    stop.set()
    async with bench() as one:
        await one.managers.tenancy.delete_org(one.ctx)
        assert await sweep_steps.relay_all(one.managers.outbox, RequestContext(app=APP), stop) == 1
        assert not await _relayed(one)


async def test_the_outbox_is_relayed_when_a_commit_says_so() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock) as one, one.running("relay"):
        await clock.until_waiting()
        await one.managers.tenancy.delete_org(one.ctx)
        await one.parts.infra.topics.publish(Topics.OUTBOX_PENDING, OutboxPending(idempotency_key="k"))
        await until(lambda: _relayed(one), "the change is in the feed")


@pytest.mark.parametrize("error", [AttributeError("odd"), ValidationFailed("kind", "another"), Unavailable("away")])
async def test_the_relay_goes_on_after_a_rest_when_a_pass_raises(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    clock = ManualClockImpl()

    async def fail(_rctx: RequestContext, _limit: int) -> RelayReport:
        raise error

    async with bench(clock=clock) as one:
        await one.managers.tenancy.delete_org(one.ctx)
        with monkeypatch.context() as patched:
            patched.setattr(one.managers.outbox, "relay_pending", fail)
            async with one.running("relay") as running:
                relay = running.tasks["relay"]
                await until(lambda: clock.num_waiting == 1 or relay.done(), "the end of the pass")
                assert not relay.done()
                assert one.parts.metrics.registry.get_sample_value("headrace_loop_errors_total", {"loop": "relay"}) == 1
                assert not await _relayed(one)
                patched.undo()
                clock.advance(timedelta(minutes=5))
                await until(lambda: _relayed(one), "the change is in the feed")
    (logged,) = [each for each in caplog.records if each.name.endswith("relaying")]
    assert (logged.exc_info is not None) is not isinstance(error, Unavailable)


async def _relayed(one: Bench) -> bool:
    gauges = await one.managers.outbox.read_gauges(RequestContext(app=APP))
    return gauges.num_pending == 0
