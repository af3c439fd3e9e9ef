import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from headrace.infra.background.timing import ManualClockImpl
from headrace.om.context import OpContext
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.held import HeldClaim, Interruption
from workers.kit.tests.workbench import Bench, Doing, bench, passes, until

SECOND = timedelta(seconds=1)
LEASE: dict[str, Any] = {"lease": "60s", "renewal_interval": "15s"}


async def running_claim(one: Bench) -> HeldClaim:
    await until(lambda: one.loop.core.held.num_running == 1, "an item runs")
    (claim,) = one.loop.core.held.running()
    return claim


async def lease_end(one: Bench, claim: HeldClaim) -> datetime:
    end = (await one.read(claim.item)).lease_expires_at
    assert end is not None
    return end


async def test_every_lease_is_renewed_in_one_statement_when_the_interval_passes() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, capacity=3, **LEASE) as one:
        await one.enqueue(3)
        async with one.running("renewal", "settling", "claiming"):
            await until(lambda: one.doing.num_started == 3, "three run")
            before = {claim: await lease_end(one, claim) for claim in one.loop.core.held.running()}
            await clock.until_waiting(4)
            clock.advance(15 * SECOND)
            await until(lambda: one.storage.work.renewals.num_calls == 1, "a renewal")
            for claim, end in before.items():
                await until(partial(_is_later, one, claim, end), "a longer lease")
            assert one.storage.work.renewals.num_calls == 1


async def _is_later(one: Bench, claim: HeldClaim, end: datetime) -> bool:
    return await lease_end(one, claim) > end


async def test_the_item_is_cancelled_at_once_when_its_renewal_meets_a_conflict() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **LEASE) as one:
        (item,) = await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            await one.steal(item)
            await clock.until_waiting(4)
            clock.advance(15 * SECOND)
            await until(lambda: one.loop.core.held.num_held == 0, "the item is let go of")
        assert claim.interruption is Interruption.LEASE_LOST
        assert one.storage.work.settlements.num_calls == 0
        assert one.count("headrace_lease_losses_total", how="lease_lost") == 1


async def test_a_renewal_is_tried_again_soon_when_it_failed() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **LEASE) as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            with one.storage.work.renewals.failing():
                await clock.until_waiting(4)
                clock.advance(15 * SECOND)
                await until(lambda: one.storage.work.renewals.num_calls == 1, "a failed renewal")
            await clock.until_waiting(4)
            clock.advance(4 * SECOND)
            await until(lambda: claim.renewed_sent_at == clock.monotonic(), "a renewal that succeeds")
            assert claim.is_running


async def test_a_renewal_is_tried_again_when_it_timed_out() -> None:
    async with bench(Doing(gate=asyncio.Event()), lease="60s", renewal_interval="20ms") as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            with one.storage.work.renewals.hanging():
                await until(lambda: one.storage.work.renewals.num_calls >= 3, "renewals that time out")
            sent_at = claim.renewed_sent_at
            await until(lambda: claim.renewed_sent_at > sent_at, "a renewal that succeeds")
            assert claim.is_running


async def test_the_item_is_cancelled_when_no_renewal_succeeds_for_half_the_lease() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **LEASE) as one:
        (item,) = await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            with one.storage.work.renewals.failing():
                await clock.until_waiting(4)
                for _ in range(29):
                    await passes(clock, SECOND, waiting=4)
                assert claim.is_running
                clock.advance(SECOND)
                await until(lambda: not claim.is_running, "the item's task ends")
            assert claim.interruption is Interruption.LEASE_LAPSED
            released = await one.until_status(item, WorkStatus.QUEUED)
        assert released.attempts == 0


async def test_the_item_is_cancelled_within_a_tick_when_the_machine_was_suspended() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **LEASE) as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            with one.storage.work.renewals.failing():
                await clock.until_waiting(4)
                clock.advance(timedelta(hours=1))
                await until(lambda: not claim.is_running, "the item's task ends")
        assert claim.interruption is Interruption.LEASE_LAPSED


async def test_a_success_counts_from_when_it_was_sent_when_its_answer_is_late() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **LEASE) as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            with one.storage.work.renewals.hanging():
                await clock.until_waiting(4)
                clock.advance(15 * SECOND)
                await one.storage.work.renewals.reached.wait()
                sent_at = clock.monotonic()
                clock.advance(5 * SECOND)
            await until(lambda: claim.renewed_sent_at == sent_at, "the renewal is noted")


async def test_a_later_success_stands_when_an_earlier_renewal_is_answered_after_it() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, **LEASE) as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            with one.storage.work.renewals.hanging():
                await clock.until_waiting(4)
                clock.advance(15 * SECOND)
                await one.storage.work.renewals.reached.wait()
                claim.renewed_sent_at = later = clock.monotonic() + 1
            await clock.until_waiting(4)
            assert claim.renewed_sent_at == later


async def test_no_lease_loss_is_counted_when_an_item_that_was_told_to_end_goes_on() -> None:
    clock, gate = ManualClockImpl(), asyncio.Event()

    async def goes_on(_ctx: OpContext, _item: WorkItem) -> None:
        while not gate.is_set():
            with suppress(asyncio.CancelledError):
                await gate.wait()

    async with bench(Doing(goes_on), clock=clock, **LEASE) as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            claim = await running_claim(one)
            claim.interrupt(Interruption.DRAINING)
            with one.storage.work.renewals.failing():
                await clock.until_waiting(4)
                for _ in range(33):
                    await passes(clock, SECOND, waiting=4)
            assert one.count("headrace_lease_losses_total", how="lease_lapsed") == 0
            gate.set()


async def test_leases_are_let_go_when_the_event_loop_stands_still_beyond_the_limit() -> None:
    clock = ManualClockImpl()
    async with bench(Doing(gate=asyncio.Event()), clock=clock, blocked_loop_limit="10m", **LEASE) as one:
        await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            await running_claim(one)
            await clock.until_waiting(4)
            # The lag task does not run here, so nothing says that the loop turns.
            one.loop.core.state.loop_turned_at = clock.monotonic() - 600
            await passes(clock, 15 * SECOND, waiting=4)
            assert one.storage.work.renewals.num_calls == 0


async def test_an_older_claim_is_lost_when_its_item_is_claimed_anew() -> None:
    async with bench(Doing(gate=asyncio.Event()), capacity=2) as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming"):
            older = await running_claim(one)
            again = item.with_changes(claim_token=one.ctx.org_id, lane="default", status=WorkStatus.CLAIMED)
            newer = HeldClaim(one.ctx, again, 0.0, older.still_held)  # type: ignore[arg-type]  # never asked here
            one.loop.core.held.add(newer)
            assert older.is_lost
            assert one.loop.core.held.renewable() == (newer,)
            one.loop.core.held.remove(newer)
