"""Fair share and pauses: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.base import new_id, utcnow
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.control import WorkPause
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import (
    BOTH_KINDS,
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

ORIGIN = "tests"


async def claim_many(storage: WorkStorageInterface, limit: int) -> tuple[ClaimedRow, ...]:
    return await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, limit)


class ShareCases(WorkStorageCases):
    async def test_an_orgs_one_item_is_taken_within_two_claims_whatever_another_has_enqueued(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put_many(storage, org_id, 300, available_at=in_past(hours=1), priority=9)
        one = await self.put(storage, other_org)
        claimed = [(await claim_one(storage)).item.id for _ in range(2)]
        assert one.id in claimed

    async def test_claims_of_one_go_round_the_orgs(self, storage: WorkStorageInterface) -> None:
        orgs = [new_id() for _ in range(4)]
        for org_id in orgs:
            await self.put_many(storage, org_id, 3)
        claimed = [(await claim_one(storage)).org_id for _ in range(12)]
        for first in range(0, 12, 4):
            assert set(claimed[first : first + 4]) == set(orgs)

    async def test_a_claim_that_does_not_come_out_even_leaves_no_org_out(self, storage: WorkStorageInterface) -> None:
        orgs = [new_id() for _ in range(9)]
        for org_id in orgs:
            await self.put_many(storage, org_id, 5)
        for _ in range(2):
            claimed = [row.org_id for row in await claim_many(storage, 10)]
            assert sorted(claimed.count(org_id) for org_id in orgs) == [1] * 8 + [2]

    @pytest.mark.parametrize("kinds", [KINDS, BOTH_KINDS], ids=len)
    @pytest.mark.parametrize(("num_items", "limit"), [(2, 3), (3, 4), (3, 5), (9, 5), (9, 10)])
    async def test_what_is_left_over_goes_to_whoever_has_more(
        self,
        storage: WorkStorageInterface,
        org_id: UUID,
        other_org: UUID,
        *,
        num_items: int,
        limit: int,
        kinds: tuple[WorkKind, ...],
    ) -> None:
        await self.put_many(storage, org_id, num_items)
        await self.put(storage, other_org)
        claimed = [row.org_id for row in await storage.claim_batch(LANE, kinds, "worker-1", LEASE, limit)]
        assert claimed.count(other_org) == 1
        assert claimed.count(org_id) == min(num_items, limit - 1)

    async def test_a_claim_of_many_gives_each_org_its_share(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put_many(storage, org_id, 50, available_at=in_past(hours=1))
        await self.put_many(storage, other_org, 50)
        claimed = [row.org_id for row in await claim_many(storage, 20)]
        assert (claimed.count(org_id), claimed.count(other_org)) == (10, 10)

    async def test_what_others_leave_of_their_share_goes_to_who_has_more(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put_many(storage, org_id, 50)
        await self.put_many(storage, other_org, 2)
        claimed = [row.org_id for row in await claim_many(storage, 20)]
        assert (claimed.count(org_id), claimed.count(other_org)) == (18, 2)

    async def test_more_orgs_than_a_claim_takes_are_all_served_in_turn(self, storage: WorkStorageInterface) -> None:
        orgs = [new_id() for _ in range(10)]
        for org_id in orgs:
            await self.put_many(storage, org_id, 4)
        claimed = [row.org_id for _ in range(5) for row in await claim_many(storage, 4)]
        assert {claimed.count(org_id) for org_id in orgs} == {2}

    async def test_an_org_that_gets_something_new_waits_no_longer_than_a_round(
        self, storage: WorkStorageInterface
    ) -> None:
        orgs = [new_id() for _ in range(3)]
        for org_id in orgs:
            await self.put_many(storage, org_id, 20)
        await claim_many(storage, 7)
        late = new_id()
        one = await self.put(storage, late)
        assert one.id in {(await claim_one(storage)).item.id for _ in range(4)}

    async def test_priority_orders_an_orgs_own_items_only(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        low, high = [await self.put(storage, org_id, priority=priority) for priority in (1, 5)]
        other = await self.put(storage, other_org, priority=-5)
        claimed = [(await claim_one(storage)).item.id for _ in range(3)]
        assert claimed.index(high.id) < claimed.index(low.id)
        assert other.id in claimed[:2]

    async def test_priority_goes_across_an_orgs_kinds(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        for kind in BOTH_KINDS:
            await self.put(storage, org_id, kind=kind, priority=0, available_at=in_past(hours=1))
        wanted = [
            await self.put(storage, org_id, kind=kind, priority=priority)
            for kind, priority in ((WorkKind.NOOP, 9), (WorkKind.DELIVER_WEBHOOK, 7), (WorkKind.NOOP, 5))
        ]
        claimed = await storage.claim_batch(LANE, BOTH_KINDS, "worker-1", LEASE, 3)
        assert [row.item.id for row in claimed] == [item.id for item in wanted]

    async def test_an_item_that_came_back_takes_its_turn_again(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        item = await self.put(storage, org_id)
        for attempts in range(1, 4):
            claimed = (await claim_one(storage)).item
            assert (claimed.id, claimed.attempts) == (item.id, 1), attempts
            await storage.write_item(org_id, rules.released(claimed, ""))

    async def test_an_item_is_claimed_once_its_time_has_come(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        at = utcnow() + timedelta(milliseconds=100)
        item = await self.put(storage, org_id, available_at=at)
        claimed: tuple[ClaimedRow, ...] = ()
        async with asyncio.timeout(20):
            while not claimed:
                await asyncio.sleep(0)  # memory gives no timeout a turn by itself
                claimed = await claim_many(storage, 5)
        assert [row.item.id for row in claimed] == [item.id]
        assert utcnow() >= at

    async def test_an_item_that_comes_back_with_a_high_priority_goes_before_fresh_low_ones(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        urgent = await self.put(storage, org_id, priority=9)
        await claim_one(storage, NO_LEASE)
        await self.put_many(storage, org_id, 50)
        await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        claims = [await claim_many(storage, 5) for _ in range(2)]
        assert urgent.id in {row.item.id for rows in claims for row in rows}


class UnfairCases(WorkStorageCases):
    """With fair share off; the fixture `unfair` gives such a storage."""

    async def test_the_oldest_item_is_taken_whoever_it_belongs_to(
        self, unfair: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        young = await self.put(unfair, org_id, available_at=in_past(minutes=1))
        old = [await self.put(unfair, other_org, available_at=in_past(minutes=9 - n)) for n in range(3)]
        urgent = await self.put(unfair, other_org, priority=1)
        claimed = [(await claim_one(unfair)).item.id for _ in range(5)]
        assert claimed == [urgent.id, *(item.id for item in old), young.id]

    async def test_an_org_that_is_paused_holds_up_nobody(
        self, unfair: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await unfair.create_items(org_id, [a_work_item(available_at=in_past(hours=1)) for _ in range(30)])
        one = await self.put(unfair, other_org)
        await unfair.put_control(WorkPause(org_id=org_id), ORIGIN)
        assert [row.item.id for row in await claim_many(unfair, 5)] == [one.id]


class PauseCases(WorkStorageCases):
    @pytest.mark.parametrize("of_what", ["lane", "kind", "org_id"])
    async def test_nothing_of_what_is_paused_is_claimed_until_it_is_resumed(
        self, storage: WorkStorageInterface, org_id: UUID, of_what: str
    ) -> None:
        item = await self.put(storage, org_id)
        names = {"lane": LANE, "kind": WorkKind.NOOP, "org_id": org_id}
        pause = WorkPause.model_validate({of_what: names[of_what]})
        await storage.put_control(pause, ORIGIN)
        assert await claim_many(storage, 10) == ()
        assert await storage.delete_control(pause)
        assert [row.item.id for row in await claim_many(storage, 10)] == [item.id]

    async def test_others_than_what_is_paused_go_on(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id)
        await self.put(storage, other_org, kind=WorkKind.DELIVER_WEBHOOK)
        other = await self.put(storage, other_org)
        elsewhere = await self.put(storage, other_org, lane="other")
        await storage.put_control(WorkPause(org_id=org_id), ORIGIN)
        await storage.put_control(WorkPause(kind=WorkKind.DELIVER_WEBHOOK), ORIGIN)
        claimed = await storage.claim_batch(LANE, BOTH_KINDS, "worker-1", LEASE, 10)
        assert [row.item.id for row in claimed] == [other.id]
        await storage.put_control(WorkPause(lane=LANE), ORIGIN)
        assert (await claim_one(storage, lane="other")).item.id == elsewhere.id

    async def test_what_runs_when_a_pause_begins_is_settled_and_kept(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        held = (await claim_one(storage)).item
        await storage.put_control(WorkPause(lane=LANE), ORIGIN)
        assert (await storage.write_item(org_id, rules.failed(held, "boom"))).status is WorkStatus.QUEUED
        assert await claim_many(storage, 10) == ()

    async def test_recovery_is_not_held_up_by_a_pause(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        await claim_one(storage, NO_LEASE)
        for pause in (WorkPause(lane=LANE), WorkPause(kind=WorkKind.NOOP), WorkPause(org_id=org_id)):
            await storage.put_control(pause, ORIGIN)
        assert await storage.read_stale_orgs(10) == (org_id,)
        swept = await storage.requeue_stale(org_id, rules.STAGGER_STEP * 0, 10, max_crashes=3)
        assert [item.status for item in swept] == [WorkStatus.QUEUED]

    async def test_pauses_are_read_back_and_taken_back_once(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        pauses = {WorkPause(lane="slow"), WorkPause(kind=WorkKind.NOOP), WorkPause(org_id=org_id)}
        for pause in pauses:
            for _ in range(2):
                await storage.put_control(pause, ORIGIN)
        assert set((await storage.read_controls()).pauses) == pauses
        assert [await storage.delete_control(WorkPause(lane="slow")) for _ in range(2)] == [True, False]
