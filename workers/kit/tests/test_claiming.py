import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from headrace.infra.background.timing import ManualClockImpl
from headrace.infra.topics import Topics, WorkAvailable
from headrace.om.context import OpContext, RequestContext
from headrace.om.exceptions import PreconditionFailed
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.exceptions import WorkClaimLost
from headrace.om.work.registry import HandlerRegistry, RegistryClosed
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.noop import NoopPayload
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit import claiming
from headrace.workers.kit.held import Interruption
from workers.kit.tests.workbench import APP, Doing, bench, passes, until


async def test_no_more_items_than_capacity_run_when_more_are_queued() -> None:
    async with bench(Doing(gate=asyncio.Event()), capacity=3, poll_interval="10ms") as one:
        await one.enqueue(8)
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 3, "three items run")
            calls = one.storage.work.claims.num_calls
            statuses = [each.status for each in (await one.managers.work.get_status(one.ctx)).counts]
            assert sorted(statuses) == [WorkStatus.CLAIMED, WorkStatus.QUEUED]
            assert one.loop.core.held.num_running == 3
            assert one.storage.work.claims.num_calls == calls


async def test_all_free_slots_are_claimed_in_one_statement_when_items_wait() -> None:
    async with bench(Doing(gate=asyncio.Event()), capacity=5) as one:
        await one.enqueue(5)
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 5, "five items run")
            assert one.storage.work.claims.num_calls == 1


async def test_a_freed_slot_wakes_the_loop_when_more_items_wait() -> None:
    async with bench(capacity=1) as one:
        items = await one.enqueue(4)
        async with one.running("settling", "claiming"):
            for item in items:
                await one.until_status(item, WorkStatus.DONE)


async def test_a_wake_up_ends_the_wait_when_an_item_is_enqueued() -> None:
    async with bench() as one, one.running("settling", "claiming"):
        await until(lambda: one.storage.work.claims.num_calls == 1, "the first, empty claim")
        (item,) = await one.enqueue()
        await one.until_status(item, WorkStatus.DONE)


async def test_a_wake_up_of_another_lane_is_not_heeded_when_the_loop_waits() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock) as one, one.running("claiming"):
        await clock.until_waiting()
        other, own = (WorkAvailable(idempotency_key=lane, lane=lane, num_items=1) for lane in ("other", "default"))
        await one.parts.infra.topics.publish(Topics.WORK_AVAILABLE, other)
        await one.parts.infra.topics.publish(Topics.WORK_AVAILABLE, own)
        await until(lambda: one.storage.work.claims.num_calls == 2, "the claim that the own lane woke")
        await clock.until_waiting()
        assert one.storage.work.claims.num_calls == 2


async def test_the_queue_is_polled_when_no_wake_up_comes() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, is_started=False, poll_interval="1s") as one, one.running("claiming"):
        await clock.until_waiting()
        await one.enqueue()
        assert one.doing.num_started == 0
        clock.advance(timedelta(seconds=1))
        await until(lambda: one.doing.num_started == 1, "the polled item runs")


async def test_a_failed_claim_rests_a_poll_interval_when_wake_ups_come_meanwhile() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, poll_interval="1s") as one, one.running("settling", "claiming"):
        await clock.until_waiting(2)
        with one.storage.work.claims.failing():
            await one.enqueue()
            await until(lambda: one.storage.work.claims.num_calls == 2, "the claim that fails")
            await one.enqueue()
            await one.parts.infra.topics.publish(
                Topics.WORK_AVAILABLE, WorkAvailable(idempotency_key="k", lane="default", num_items=1)
            )
            await passes(clock, timedelta(0), waiting=2)
            assert one.storage.work.claims.num_calls == 2
        clock.advance(timedelta(seconds=1))
        await until(lambda: one.doing.num_started == 2, "both items run")


async def test_a_failed_claim_is_soon_tried_again_when_polls_are_rare() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, poll_interval="1h") as one, one.running("settling", "claiming"):
        await clock.until_waiting(2)
        with one.storage.work.claims.failing():
            await one.enqueue()
            await until(lambda: one.storage.work.claims.num_calls == 2, "the claim that fails")
            await clock.until_waiting(2)
        clock.advance(timedelta(seconds=1))
        await until(lambda: one.doing.num_started == 1, "the item runs")


async def test_the_loop_ends_with_the_error_when_no_later_claim_can_succeed() -> None:
    async with bench() as one:
        with (
            one.storage.work.claims.failing(PreconditionFailed("no system login")),
            pytest.raises(PreconditionFailed),
        ):
            await one.loop.claiming.run(asyncio.Event())


async def test_nothing_is_claimed_when_liveness_is_lost() -> None:
    clock = ManualClockImpl()
    async with bench(clock=clock, heartbeat_failure_limit=1, poll_interval="1s") as one:
        one.loop.core.state.note_beat(is_good=False)
        async with one.running("claiming"):
            await clock.until_waiting()
            assert one.storage.work.claims.num_calls == 0
            one.loop.core.state.note_beat(is_good=True)
            clock.advance(timedelta(seconds=1))
            await until(lambda: one.storage.work.claims.num_calls == 1, "claiming goes on")


async def test_claiming_goes_on_when_liveness_is_lost_and_the_setting_says_continue() -> None:
    async with bench(heartbeat_failure_limit=1, liveness_loss="continue") as one:
        one.loop.core.state.note_beat(is_good=False)
        async with one.running("claiming"):
            await until(lambda: one.storage.work.claims.num_calls == 1, "a claim")


async def test_nothing_more_is_claimed_when_ended_items_cannot_be_settled() -> None:
    async with bench(capacity=2) as one:
        items = await one.enqueue(9)
        async with one.running("settling", "claiming"):
            with one.storage.work.settlements.failing():
                await until(lambda: one.loop.core.held.num_unsettled > 2, "ends pile up")
                await until(lambda: one.loop.core.held.num_running == 0, "what was claimed has run")
                assert one.loop.core.held.num_held <= 4
            for item in items:
                await one.until_status(item, WorkStatus.DONE)


async def test_rows_are_released_when_the_stop_comes_during_their_claim() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming") as running:
            with one.storage.work.answers.hanging():
                await one.storage.work.answers.reached.wait()
                running.stops["claiming"].set()
            await one.until_status(item, WorkStatus.QUEUED)
        assert one.doing.num_started == 0
        assert (await one.read(item)).attempts == 0


async def test_rows_are_released_when_the_loop_is_cancelled_during_their_claim() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        with one.storage.work.answers.hanging():
            claiming = asyncio.create_task(one.loop.claiming.run(asyncio.Event()))
            await one.storage.work.answers.reached.wait()
            claiming.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([claiming])
        assert claiming.cancelled()
        await one.loop.settler.flush(timedelta(seconds=5))
        released = await one.read(item)
        assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)


async def test_items_are_released_when_every_task_of_the_process_is_cancelled_at_once() -> None:
    async with bench(Doing(gate=asyncio.Event())) as one:
        (item,) = await one.enqueue()
        loop = asyncio.create_task(one.loop.claiming.run(asyncio.Event()))
        await until(lambda: one.doing.num_started == 1, "it runs")
        (claim,) = one.loop.core.held.running()
        assert claim.task is not None
        claim.task.cancel()
        loop.cancel()
        await asyncio.wait([loop])
        await one.loop.settler.flush(timedelta(seconds=5))
        released = await one.read(item)
        assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)


async def test_the_loop_ends_when_it_is_cancelled_and_an_item_heeds_no_cancel(caplog: pytest.LogCaptureFixture) -> None:
    gate = asyncio.Event()

    async def goes_on(_ctx: OpContext, _item: WorkItem) -> None:
        while not gate.is_set():
            with suppress(asyncio.CancelledError):
                await gate.wait()

    async with bench(Doing(goes_on), drain_budget="10ms") as one:
        (item,) = await one.enqueue()
        loop = asyncio.create_task(one.loop.claiming.run(asyncio.Event()))
        await until(lambda: one.doing.num_started == 1, "it runs")
        loop.cancel()
        await asyncio.wait([loop], timeout=5)
        assert loop.cancelled()
        await one.loop.settler.flush(timedelta(seconds=5))
        assert (await one.read(item)).status is WorkStatus.CLAIMED
        assert f"item {item.id} heeds no cancel" in caplog.text
        gate.set()
        await until(lambda: one.loop.core.held.num_running == 0, "it ends")


async def test_only_the_item_fails_when_a_task_of_its_handler_raises_what_ends_processes() -> None:
    async def leave() -> None:
        raise SystemExit(0)

    async def begin_a_task(_ctx: OpContext, _item: WorkItem) -> None:
        await asyncio.create_task(leave())

    async with bench(Doing(begin_a_task)) as one:
        (item,) = await one.enqueue(max_attempts=1)
        async with one.running("settling", "claiming"):
            failed = await one.until_status(item, WorkStatus.FAILED)
        assert failed.error_code == "TaskTriedToExit"


async def test_an_item_is_released_when_its_task_is_cancelled_before_the_first_step() -> None:
    doing = Doing()
    async with bench(doing, capacity=2) as one:

        def interrupt_the_other(_ctx: OpContext, item: WorkItem) -> None:
            for claim in one.loop.core.held.running():
                if claim.item.id != item.id and doing.num_started == 1:
                    claim.interrupt(Interruption.DRAINING)

        doing.act = interrupt_the_other
        items = await one.enqueue(2)
        async with one.running("settling", "claiming"):
            for item in items:
                await one.until_status(item, WorkStatus.DONE)
        assert doing.num_started == 2
        assert one.count("headrace_settlements_total", outcome="released") == 1
        assert {(await one.read(item)).attempts for item in items} == {1}


async def test_handlers_can_no_longer_change_when_claiming_has_begun() -> None:
    async with bench() as one, one.running("claiming"):
        await until(lambda: one.storage.work.claims.num_calls == 1, "a claim")
        with pytest.raises(RegistryClosed):
            one.parts.registry.register(WorkKind.DELIVER_WEBHOOK, _unused)


async def test_a_typed_function_gets_its_payload_when_it_is_the_handler() -> None:
    seen: list[str] = []

    async def note(payload: NoopPayload) -> None:
        seen.append(payload.note)

    def register(registry: HandlerRegistry) -> None:
        registry.register(WorkKind.NOOP, note)

    async with bench(register=register) as one, one.running("settling", "claiming"):
        (item,) = await one.enqueue(payload={"note": "hello"})
        await one.until_status(item, WorkStatus.DONE)
    assert seen == ["hello"]


async def test_the_claim_is_known_to_be_lost_when_the_handler_asks() -> None:
    async with bench(Doing(gate=asyncio.Event())) as one:
        (item,) = await one.enqueue()
        async with one.running("settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "the item runs")
            (claim,) = one.loop.core.held.running()
            assert await claim.still_held()
            await one.steal(item)
            assert not await claim.still_held()
            with pytest.raises(WorkClaimLost):
                await one.managers.work.complete(claim.ctx, claim.item)


async def _unused(payload: object) -> None: ...


async def test_both_claims_are_kept_when_two_orgs_have_an_item_of_one_id() -> None:
    clock, shared = ManualClockImpl(), UUID(int=5)
    async with bench(Doing(gate=asyncio.Event()), clock=clock) as one:
        org, owner = Org(name="Other"), User(name="Other", login_name="other")
        other = await one.managers.tenancy.create_org(RequestContext(app=APP), org, owner)
        for ctx in (one.ctx, other):
            await one.managers.work.enqueue(ctx, WorkItem(id=shared, kind=WorkKind.NOOP, origin="test", lane="default"))
        async with one.running("renewal", "settling", "claiming"):
            await until(lambda: one.doing.num_started == 2, "both run")
            await clock.until_waiting(4)
            await passes(clock, timedelta(seconds=15), waiting=4)
            claims = one.loop.core.held.renewable()
            assert {claim.ctx.org_id for claim in claims} == {one.ctx.org_id, other.org_id}
            assert {claim.renewed_sent_at for claim in claims} == {clock.monotonic()}
            assert not any(claim.interruption for claim in claims)


async def test_every_claimed_item_runs_when_their_claims_cannot_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_kind: WorkKind, _waited: timedelta) -> None:
        raise RuntimeError("no metrics today")

    async with bench(capacity=3) as one:
        monkeypatch.setattr(one.parts.metrics, "note_claimed", refuse)
        items = await one.enqueue(3)
        async with one.running("settling", "claiming"):
            for item in items:
                await one.until_status(item, WorkStatus.DONE)


@pytest.mark.parametrize("available_at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
async def test_items_run_when_their_instants_are_odd(available_at: datetime) -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        waited = claiming._waited  # noqa: SLF001 - the arithmetic alone
        for lease_expires_at in (available_at, datetime.min.replace(tzinfo=UTC), item.available_at):
            odd = item.with_changes(available_at=available_at, lease_expires_at=lease_expires_at)
            assert waited(odd, timedelta(days=1)) >= timedelta(0)
