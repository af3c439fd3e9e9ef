"""Rates: cases of the work storage's contract."""

import asyncio
from uuid import UUID

from headrace.om.base import new_id
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.control import WorkControl, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from om.tests.contracts.work_items import (
    BOTH_KINDS,
    LANE,
    LEASE,
)
from om.tests.contracts.work_limits import SLOW, LimitedCases, key_limit, kind_limit, org_limit
from om.tests.contracts.work_sharing import ORIGIN, claim_many


class RateCases(LimitedCases):
    async def test_no_more_begin_at_once_than_the_burst(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(WorkRate(kind=WorkKind.NOOP, per_second=SLOW, burst=3), ORIGIN)
        await self.put_many(storage, org_id, 10)
        for row in await claim_many(storage, 2):
            await self.end(storage, row)
        assert len(await claim_many(storage, 10)) == 1
        assert await claim_many(storage, 10) == ()

    async def test_the_bucket_fills_with_time(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(WorkRate(kind=WorkKind.NOOP, per_second=20, burst=1), ORIGIN)
        await self.put_many(storage, org_id, 5)
        claimed = 0
        async with asyncio.timeout(20):
            while claimed < 5:
                rows = await claim_many(storage, 10)
                assert len(rows) < 5
                claimed += len(rows)

    async def test_a_rate_holds_up_no_other_kind(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(WorkRate(kind=WorkKind.NOOP, per_second=SLOW), ORIGIN)
        await self.put_many(storage, org_id, 300, priority=9)
        free = await self.put_many(storage, org_id, 2, kind=WorkKind.DELIVER_WEBHOOK)
        claimed = await storage.claim_batch(LANE, BOTH_KINDS, "worker-1", LEASE, 10)
        assert {row.item.id for row in claimed} >= {item.id for item in free}
        assert len(claimed) == 3

    async def test_a_rate_said_again_does_not_fill_its_bucket(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        rate = WorkRate(kind=WorkKind.NOOP, per_second=SLOW, burst=2)
        await storage.put_control(rate, ORIGIN)
        await self.put_many(storage, org_id, 10)
        assert len(await claim_many(storage, 10)) == 2
        await storage.put_control(rate.model_copy(update={"burst": 5}), ORIGIN)
        assert await claim_many(storage, 10) == ()
        assert await storage.delete_control(rate)
        assert len(await claim_many(storage, 10)) == 8

    async def test_limits_and_rates_hold_together(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(WorkRate(kind=WorkKind.NOOP, per_second=SLOW, burst=4), ORIGIN)
        await storage.put_control(kind_limit(3), ORIGIN)
        await self.put_many(storage, org_id, 10)
        first = await claim_many(storage, 10)
        assert len(first) == 3
        for row in first:
            await self.end(storage, row)
        assert len(await claim_many(storage, 10)) == 1

    async def test_limits_and_rates_are_read_back_and_replaced_by_subject(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        kept: list[WorkControl] = [
            kind_limit(5),
            org_limit(7),
            org_limit(3, org_id),
            org_limit(2, org_id, WorkKind.NOOP),
            key_limit(9),
            WorkRate(kind=WorkKind.NOOP, per_second=2.5, burst=4),
            WorkPause(kind=WorkKind.NOOP),
        ]
        await storage.put_control(kind_limit(1), ORIGIN)
        for control in kept:
            await storage.put_control(control, ORIGIN)
        controls = await storage.read_controls()
        assert {*controls.limits, *controls.rates, *controls.pauses} == set(kept)

    async def test_what_is_said_about_one_org_is_nothing_to_another(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        stranger = new_id()
        await storage.put_control(org_limit(1, stranger), ORIGIN)
        await storage.put_control(WorkPause(org_id=stranger), ORIGIN)
        await self.put_many(storage, org_id, 5)
        assert len(await claim_many(storage, 10)) == 5
