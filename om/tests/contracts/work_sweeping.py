"""The sweep: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from uuid import UUID

from headrace.om.base import utcnow
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import (
    KINDS,
    LANE,
    LEASE,
    MAX_CRASHES,
    NO_LEASE,
    WorkStorageCases,
    a_work_item,
    claim_one,
    in_past,
)


class SweepCases(WorkStorageCases):
    async def sweep(self, storage: WorkStorageInterface, org_id: UUID, limit: int = 100) -> tuple[WorkItem, ...]:
        return await storage.requeue_stale(org_id, timedelta(0), limit, max_crashes=MAX_CRASHES)

    async def test_a_passed_lease_is_handed_back_with_a_crash(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage, NO_LEASE)).item
        (requeued,) = await self.sweep(storage, org_id)
        assert (requeued.id, requeued.status, requeued.attempts, requeued.crashes) == (
            item.id,
            WorkStatus.QUEUED,
            1,
            1,
        )
        assert requeued.last_error == rules.LEASE_PASSED_ERROR
        assert (await claim_one(storage)).item.attempts == 2

    async def test_a_live_lease_is_left_alone(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        await claim_one(storage)
        assert await self.sweep(storage, org_id) == ()
        assert await storage.read_stale_orgs(10) == ()

    async def test_what_waits_or_has_settled_is_left_alone(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        ends = (lambda item: rules.done(item, 1), lambda item: rules.refused(item, "no"), rules.cancelled)
        for end in (*ends, lambda item: rules.failed(item, "boom", after=timedelta(hours=1))):
            await self.put(storage, org_id)
            await storage.write_item(org_id, end((await claim_one(storage, NO_LEASE)).item))
        before = await storage.read_items(org_id, WorkFilter(), 10)
        assert await self.sweep(storage, org_id) == ()
        assert await storage.read_items(org_id, WorkFilter(), 10) == before

    async def test_a_lease_is_left_until_it_is_overdue(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        await claim_one(storage, NO_LEASE)
        assert await storage.requeue_stale(org_id, timedelta(hours=1), 10, max_crashes=MAX_CRASHES) == ()

    async def test_an_item_without_attempts_left_fails(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, max_attempts=1)
        await claim_one(storage, NO_LEASE)
        (failed,) = await self.sweep(storage, org_id)
        assert failed.status is WorkStatus.FAILED
        assert failed.settled_at is not None

    async def test_an_item_that_kills_its_workers_fails_by_its_crashes(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, max_attempts=100)
        for _ in range(MAX_CRASHES - 1):
            await claim_one(storage, NO_LEASE)
            assert [item.status for item in await self.sweep(storage, org_id)] == [WorkStatus.QUEUED]
        await claim_one(storage, NO_LEASE)
        (poison,) = await self.sweep(storage, org_id)
        assert (poison.status, poison.crashes) == (WorkStatus.FAILED, MAX_CRASHES)

    async def test_a_cancel_that_was_asked_for_ends_a_stale_item(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage, NO_LEASE)).item
        await storage.cancel_item(org_id, item.id)
        assert [each.status for each in await self.sweep(storage, org_id)] == [WorkStatus.CANCELLED]

    async def test_the_sweep_decides_as_the_rules_do(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        for max_attempts in (1, 2, 100):
            await self.put(storage, org_id, max_attempts=max_attempts)
        held = {row.item.id: row.item for row in await storage.claim_batch(LANE, KINDS, "w", NO_LEASE, 10)}
        for swept in await self.sweep(storage, org_id):
            assert swept.status is rules.stale_status(held[swept.id], max_crashes=MAX_CRASHES)

    async def test_the_sweep_staggers_as_the_rules_do(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.create_items(org_id, [a_work_item() for _ in range(250)])
        await storage.claim_batch(LANE, KINDS, "w", NO_LEASE, 250)
        swept = sorted(await self.sweep(storage, org_id, 250), key=lambda item: item.id)
        first = swept[0].available_at
        assert first is not None
        waits = [item.available_at - first for item in swept if item.available_at is not None]
        # Less than a step apart: memory reads its clock once a row, PostgreSQL once a statement.
        for place, wait in enumerate(waits):
            assert abs(wait - rules.requeue_stagger(place)) < timedelta(milliseconds=50)

    async def test_a_sweep_moves_no_more_than_its_limit(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.create_items(org_id, [a_work_item() for _ in range(5)])
        await storage.claim_batch(LANE, KINDS, "w", NO_LEASE, 5)
        assert len(await self.sweep(storage, org_id, 3)) == 3
        assert len(await self.sweep(storage, org_id, 3)) == 2

    async def test_racing_sweeps_move_each_item_once(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.create_items(org_id, [a_work_item(max_attempts=50) for _ in range(20)])
        await storage.claim_batch(LANE, KINDS, "w", NO_LEASE, 20)
        swept = await asyncio.gather(*(self.sweep(storage, org_id) for _ in range(4)))
        ids = [item.id for batch in swept for item in batch]
        assert len(ids) == len(set(ids))
        read = await storage.read_items(org_id, WorkFilter(), 100)
        assert {item.crashes for item in read if item.id in set(ids)} <= {1}

    async def test_tenants_with_stale_items_are_found(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id)
        await self.put(storage, other_org, lane="other")
        await claim_one(storage, NO_LEASE)
        await claim_one(storage, LEASE, lane="other")
        assert await storage.read_stale_orgs(10) == (org_id,)

    async def test_a_purge_takes_old_settled_items_only(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        done, queued, held = [await self.put(storage, org_id, available_at=in_past(minutes=9 - n)) for n in range(3)]
        await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        assert await storage.purge_items(org_id, timedelta(hours=1), 10) == 0
        assert await storage.purge_items(org_id, timedelta(0), 10) == 1
        assert await storage.read_item(org_id, done.id) is None
        for kept in (queued, held):
            assert await storage.read_item(org_id, kept.id) is not None

    async def test_orphans_fail_whoever_holds_them(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, available_at=in_past(minutes=1))
        await self.put(storage, org_id)
        held = (await claim_one(storage)).item
        assert [await storage.fail_orphaned(org_id, 1) for _ in range(2)] == [1, 1]
        assert not (await storage.write_item(org_id, rules.done(held, None))).is_recorded
        assert await storage.fail_orphaned(org_id, 10) == 0
        assert {item.status for item in await storage.read_items(org_id, WorkFilter(), 10)} == {WorkStatus.FAILED}

    async def test_tenants_are_found_whatever_the_status_of_their_items(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        settled = await self.put(storage, org_id)
        await storage.cancel_item(org_id, settled.id)
        for days in range(3):
            await self.put(storage, other_org, available_at=utcnow() + timedelta(days=days))
        first, second = sorted([org_id, other_org])
        assert await storage.read_orgs(10) == (first, second)
        assert await storage.read_orgs(1) == (first,)
        assert await storage.read_orgs(10, first) == (second,)
        assert await storage.read_orgs(10, second) == ()

    async def test_the_gauges_count_across_tenants(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id, available_at=in_past(hours=1))
        await self.put(storage, other_org, available_at=utcnow() + timedelta(hours=1))
        await self.put(storage, org_id, priority=9)
        await claim_one(storage)
        gauges = await storage.read_gauges()
        assert (gauges.num_queued, gauges.num_claimed, gauges.num_failed, gauges.num_parked) == (2, 1, 0, 1)
        assert gauges.oldest_waiting is not None
        assert timedelta(minutes=59) < gauges.oldest_waiting < timedelta(minutes=61)
