"""Settling and renewing: cases of the work storage's contract."""

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, override
from uuid import UUID, uuid4

import pytest

from headrace.om.base import utcnow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.settlement import Renewal, Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import (
    KINDS,
    LANE,
    LEASE,
    MAX_CRASHES,
    NO_LEASE,
    WorkStorageCases,
    claim_one,
    renewal_of,
    with_other_token,
)


class SettleCases(WorkStorageCases):
    async def test_a_completion_records_the_result_and_clears_the_claim(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        settled = await storage.write_item(org_id, rules.done(item, {"sent": [1, 2]}))
        assert settled.status is WorkStatus.DONE
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.result, read.claim_token, read.lease_expires_at) == ({"sent": [1, 2]}, None, None)
        assert read.settled_at is not None

    async def test_a_settlement_with_another_token_changes_nothing(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        stale = with_other_token(rules.done(item, None))
        assert not (await storage.write_item(org_id, stale)).is_recorded
        assert not (await storage.settle_batch([(org_id, stale)]))[0].is_recorded
        assert await storage.read_item(org_id, item.id) == item

    async def test_a_completion_after_the_lease_passed_and_the_sweep_is_refused(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage, NO_LEASE)).item
        (requeued,) = await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        assert not (await storage.write_item(org_id, rules.done(item, None))).is_recorded
        assert await storage.read_item(org_id, item.id) == requeued

    async def test_a_token_of_an_earlier_claim_of_the_same_worker_is_refused(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        first = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.released(first))
        second = (await claim_one(storage)).item
        assert not (await storage.write_item(org_id, rules.done(first, None))).is_recorded
        assert await storage.read_item(org_id, second.id) == second

    async def test_a_second_settlement_with_the_same_token_is_refused(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.done(item, None))
        assert not (await storage.write_item(org_id, rules.failed(item, "late"))).is_recorded
        assert await self.status_of(storage, org_id, item.id) is WorkStatus.DONE

    async def test_racing_settlements_of_one_claim_are_recorded_once(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        settled = await asyncio.gather(*(storage.write_item(org_id, rules.done(item, n)) for n in range(6)))
        assert sum(each.is_recorded for each in settled) == 1

    async def test_a_completion_races_the_sweep_and_one_of_them_wins(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(10):
            await self.put(storage, org_id, max_attempts=1)
            item = (await claim_one(storage, NO_LEASE)).item
            settled, swept = await asyncio.gather(
                storage.write_item(org_id, rules.done(item, None)),
                storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES),
            )
            assert settled.is_recorded != bool(swept)

    async def test_a_failure_with_attempts_left_waits_for_its_delay(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.failed(item, "boom", after=timedelta(hours=1)))
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.status, read.attempts, read.last_error) == (WorkStatus.QUEUED, 1, "boom")
        assert await storage.claim_next(LANE, KINDS, "worker-1", LEASE) is None

    async def test_a_failure_without_attempts_left_is_a_dead_letter(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, max_attempts=1)
        item = (await claim_one(storage)).item
        settled = await storage.write_item(org_id, rules.failed(item, "boom"))
        assert settled.status is WorkStatus.FAILED

    @pytest.mark.parametrize(
        "end",
        [
            lambda item: rules.done(item, 1),
            lambda item: rules.failed(item, "boom"),
            lambda item: rules.refused(item, "never"),
            lambda item: rules.deferred(item, timedelta(hours=1)),
            lambda item: rules.parked(item, "later", utcnow() + timedelta(hours=1)),
            rules.released,
            rules.cancelled,
        ],
        ids=["done", "retried", "refused", "deferred", "parked", "released", "cancelled"],
    )
    async def test_every_end_of_a_claim_takes_its_token_and_its_lease(
        self, storage: WorkStorageInterface, org_id: UUID, end: Callable[[WorkItem], Settlement]
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        assert (await storage.write_item(org_id, end(item))).is_recorded
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.claim_token, read.lease_expires_at) == (None, None)
        assert await storage.extend_lease(org_id, renewal_of(item), LEASE) is None
        assert await storage.read_item(org_id, item.id) == read

    @pytest.mark.parametrize("end", [rules.released, lambda item: rules.deferred(item, timedelta(0))])
    async def test_a_hand_back_refunds_the_attempt(
        self,
        storage: WorkStorageInterface,
        org_id: UUID,
        end: Any,  # noqa: ANN401
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        await storage.write_item(org_id, end(item))
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.status, read.attempts) == (WorkStatus.QUEUED, 0)
        assert (await claim_one(storage)).item.attempts == 1

    async def test_a_parked_item_waits_for_its_instant(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        until = utcnow() + timedelta(days=1)
        await storage.write_item(org_id, rules.parked(item, "waits for the bank", until))
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.available_at, read.attempts, read.last_error) == (until, 0, "waits for the bank")

    async def test_a_cancel_that_was_asked_for_wins_over_queueing_again(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        await storage.cancel_item(org_id, item.id)
        settled = await storage.write_item(org_id, rules.failed(item, "boom"))
        assert settled.status is WorkStatus.CANCELLED

    async def test_a_completion_wins_over_a_cancel_that_was_asked_for(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        await storage.cancel_item(org_id, item.id)
        assert (await storage.write_item(org_id, rules.done(item, None))).status is WorkStatus.DONE

    async def test_a_batch_settles_many_tenants_and_reports_in_order(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        for org in (org_id, other_org, org_id):
            await self.put(storage, org)
        rows = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 3)
        ends = [(rows[0].org_id, rules.done(rows[0].item, 1)), (rows[1].org_id, rules.released(rows[1].item))]
        stale = (rows[2].org_id, with_other_token(rules.done(rows[2].item, 1)))
        settled = await storage.settle_batch([*ends, stale])
        assert [each.status for each in settled] == [WorkStatus.DONE, WorkStatus.QUEUED, None]

    async def test_a_stale_token_is_told_apart_when_another_tenant_has_an_item_of_the_same_id(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        twin = await self.put(storage, org_id)
        await self.put(storage, other_org, id=twin.id)
        first, second = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 2)
        stale = (second.org_id, with_other_token(rules.done(second.item, None)))
        settled = await storage.settle_batch([(first.org_id, rules.done(first.item, None)), stale])
        assert [each.status for each in settled] == [WorkStatus.DONE, None]
        assert await self.status_of(storage, second.org_id, twin.id) is WorkStatus.CLAIMED

    async def test_a_stale_token_is_told_apart_when_the_item_is_settled_beside_it(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        held = rules.done((await claim_one(storage)).item, None)
        settled = await storage.settle_batch([(org_id, with_other_token(held)), (org_id, held)])
        assert [each.status for each in settled] == [None, WorkStatus.DONE]

    @pytest.mark.parametrize(
        "until",
        [
            datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
            datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        ],
        ids=["before", "after"],
    )
    async def test_an_item_is_parked_when_its_instant_is_beyond_every_calendar(
        self, storage: WorkStorageInterface, org_id: UUID, until: datetime
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        settled = await storage.write_item(org_id, rules.parked(item, "waits", until))
        assert settled.status is WorkStatus.QUEUED

    async def test_a_success_clears_the_crashes(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, max_attempts=50)
        item = (await claim_one(storage, NO_LEASE)).item
        await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        item = (await claim_one(storage)).item
        assert item.crashes == 1
        await storage.write_item(org_id, rules.done(item, None))
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert read.crashes == 0

    async def test_whatever_a_handler_raises_can_be_recorded(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        class Broken(Exception):  # noqa: N818 - what a handler may raise
            @override
            def __str__(self) -> str:
                raise RuntimeError("no text either")

        for error in (Broken(), ValueError("nul \x00 and \ud800"), KeyError(uuid4()), ValueError("x" * 100_000)):
            await self.put(storage, org_id)
            item = (await claim_one(storage)).item
            settled = await storage.write_item(org_id, rules.ended_by(item, error).model_copy(update={"delay": LEASE}))
            assert settled.status is WorkStatus.QUEUED

    @pytest.mark.parametrize(
        "result",
        [{"id": UUID(int=7)}, {"nul": "\x00", "half": "\ud800"}, float("nan"), {1: {2, 3}}, object(), "x" * 200_000],
    )
    async def test_whatever_a_handler_returns_can_be_recorded(
        self, storage: WorkStorageInterface, org_id: UUID, result: object
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        assert (await storage.write_item(org_id, rules.done(item, result))).status is WorkStatus.DONE
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert len(json.dumps(read.result)) < 70_000


class LeaseCases(WorkStorageCases):
    async def test_a_renewal_moves_the_lease_from_now_on(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage, NO_LEASE)).item
        renewed = await storage.extend_lease(org_id, renewal_of(item), LEASE)
        assert renewed is not None
        assert not renewed.is_cancel_requested
        assert await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES) == ()

    async def test_a_renewal_learns_that_a_cancel_was_asked_for(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        await storage.cancel_item(org_id, item.id)
        (renewed,) = await storage.extend_leases([(org_id, renewal_of(item))], LEASE)
        assert renewed.is_cancel_requested

    async def test_renewals_of_lost_claims_are_missing_from_the_answer(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        for org in (org_id, other_org):
            await self.put(storage, org)
        held, lost = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 2)
        await storage.write_item(lost.org_id, rules.released(lost.item))
        pairs = [(row.org_id, renewal_of(row.item)) for row in (held, lost)]
        assert [each.item_id for each in await storage.extend_leases(pairs, LEASE)] == [held.item.id]
        assert await storage.extend_lease(lost.org_id, renewal_of(lost.item), LEASE) is None

    async def test_progress_is_written_under_the_token_only(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        assert await storage.write_progress(org_id, renewal_of(item), 0.5, "half")
        stale = Renewal(item_id=item.id, claim_token=uuid4())
        assert not await storage.write_progress(org_id, stale, 0.9, "late")
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.progress, read.progress_note) == (0.5, "half")

    async def test_renewals_of_two_tenants_with_one_id_are_told_apart_by_token(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        item = await self.put(storage, org_id)
        assert await storage.create_item(other_org, item) is InsertOutcome.INSERTED
        held, lost = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 2)
        await storage.write_item(lost.org_id, rules.released(lost.item))
        pairs = [(row.org_id, renewal_of(row.item)) for row in (held, lost)]
        assert [each.claim_token for each in await storage.extend_leases(pairs, LEASE)] == [held.item.claim_token]
