"""Many claimers at once against limits and rates: cases of the work storage's contract."""

import asyncio
from uuid import UUID

from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.control import WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import (
    KINDS,
    LANE,
    LEASE,
)
from om.tests.contracts.work_limits import LANES, SLOW, LimitedCases, key_limit, kind_limit, org_limit
from om.tests.contracts.work_sharing import ORIGIN


class RaceCases(LimitedCases):
    async def test_eight_claimers_never_run_more_than_the_limits(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        limit = 3
        await storage.put_control(kind_limit(limit), ORIGIN)
        # A lane for each claimer: nobody is kept from the limit by others' locks on the rows.
        for lane in LANES:
            await self.put_many(storage, org_id, 25, lane=lane)
        done: list[UUID] = []
        running = 0

        async def work(lane: str) -> None:
            nonlocal running
            while len(done) < 200:
                await asyncio.sleep(0)  # memory gives nobody else a turn by itself
                rows = await storage.claim_batch(lane, KINDS, f"worker-{lane}", LEASE, 2)
                running += len(rows)
                assert running <= limit
                for row in rows:
                    assert await self.status_of(storage, row.org_id, row.item.id) is WorkStatus.CLAIMED
                    # Off the count before the end is written: nobody may begin any sooner than that.
                    running -= 1
                    await self.end(storage, row)
                    done.append(row.item.id)

        await asyncio.wait_for(asyncio.gather(*(work(lane) for lane in LANES)), 45)
        assert len(set(done)) == len(done) == 200

    async def test_racing_claims_take_exactly_the_room_of_a_kind(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.put_control(kind_limit(5), ORIGIN)
        assert len(await self.raced(storage, org_id)) == 5

    async def test_racing_claims_take_exactly_the_room_of_an_org(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.put_control(org_limit(5), ORIGIN)
        assert len(await self.raced(storage, org_id)) == 5

    async def test_racing_claims_take_exactly_the_room_of_a_key(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.put_control(key_limit(2), ORIGIN)
        assert len(await self.raced(storage, org_id, concurrency_key="k")) == 2

    async def test_racing_claims_of_one_lane_run_one_of_each_key(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for key in ("a", "b", "c"):
            await self.put_many(storage, org_id, 20, concurrency_key=key)
        batches = await asyncio.gather(*(storage.claim_batch(LANE, KINDS, f"w{n}", LEASE, 4) for n in range(8)))
        assert sorted(str(row.item.concurrency_key) for batch in batches for row in batch) == ["a", "b", "c"]

    async def test_racing_claims_draw_exactly_what_the_bucket_holds(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.put_control(WorkRate(kind=WorkKind.NOOP, per_second=SLOW, burst=17), ORIGIN)
        for lane in LANES:
            await self.put_many(storage, org_id, 10, lane=lane)
        batches = await asyncio.gather(*(storage.claim_batch(lane, KINDS, f"w-{lane}", LEASE, 5) for lane in LANES))
        assert sum(len(batch) for batch in batches) == 17
