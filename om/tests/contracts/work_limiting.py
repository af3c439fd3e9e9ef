"""Limits and rates: cases of the work storage's contract."""

from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.base import utcnow
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.control import WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkHeldBack
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import (
    BOTH_KINDS,
    KINDS,
    LANE,
    LEASE,
    MAX_CRASHES,
    NO_LEASE,
    a_work_item,
    claim_one,
    in_past,
    renewal_of,
)
from om.tests.contracts.work_limits import SLOW, LimitedCases, key_limit, kind_limit, org_limit
from om.tests.contracts.work_sharing import ORIGIN, claim_many


class LimitCases(LimitedCases):
    async def test_no_more_of_a_kind_run_than_its_limit(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await storage.put_control(kind_limit(3), ORIGIN)
        for org in (org_id, other_org):
            await self.put_many(storage, org, 5)
        first = await claim_many(storage, 10)
        assert len(first) == 3
        assert await claim_many(storage, 10) == ()
        await self.end(storage, first[0])
        assert len(await claim_many(storage, 10)) == 1

    async def test_a_kind_at_its_limit_holds_up_no_other_kind(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.put_control(kind_limit(1), ORIGIN)
        await self.put_many(storage, org_id, 300, available_at=in_past(hours=1), priority=9)
        free = await self.put_many(storage, org_id, 2, kind=WorkKind.DELIVER_WEBHOOK)
        claimed = await storage.claim_batch(LANE, BOTH_KINDS, "worker-1", LEASE, 10)
        kinds = [row.item.kind for row in claimed]
        assert kinds.count(WorkKind.NOOP) == 1
        assert {row.item.id for row in claimed} >= {item.id for item in free}

    async def test_a_limit_of_a_kind_counts_in_every_lane(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(kind_limit(2), ORIGIN)
        await self.put_many(storage, org_id, 2)
        await self.put_many(storage, org_id, 2, lane="other")
        assert len(await claim_many(storage, 1)) == 1
        assert len(await storage.claim_batch("other", KINDS, "worker-1", LEASE, 10)) == 1
        assert await claim_many(storage, 10) == ()

    async def test_each_org_is_limited_and_the_others_go_on(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await storage.put_control(org_limit(2), ORIGIN)
        await self.put_many(storage, org_id, 300, available_at=in_past(hours=1))
        await self.put_many(storage, other_org, 1)
        claimed = [row.org_id for row in await claim_many(storage, 10)]
        assert sorted((claimed.count(org_id), claimed.count(other_org))) == [1, 2]

    async def test_an_orgs_own_limit_goes_before_the_one_of_each_org(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await storage.put_control(org_limit(1), ORIGIN)
        await storage.put_control(org_limit(4, other_org), ORIGIN)
        for org in (org_id, other_org):
            await self.put_many(storage, org, 6)
        claimed = [row.org_id for row in await claim_many(storage, 20)]
        assert (claimed.count(org_id), claimed.count(other_org)) == (1, 4)

    async def test_an_org_may_be_limited_in_one_kind(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(org_limit(1, kind=WorkKind.DELIVER_WEBHOOK), ORIGIN)
        await self.put_many(storage, org_id, 4, kind=WorkKind.DELIVER_WEBHOOK, priority=9)
        await self.put_many(storage, org_id, 4)
        claimed = await storage.claim_batch(LANE, BOTH_KINDS, "worker-1", LEASE, 20)
        kinds = [row.item.kind for row in claimed]
        assert (kinds.count(WorkKind.DELIVER_WEBHOOK), kinds.count(WorkKind.NOOP)) == (1, 4)

    async def test_of_a_concurrency_key_one_runs_at_a_time(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        items = [
            await self.put(storage, org_id, concurrency_key="k", available_at=in_past(minutes=9 - n)) for n in range(3)
        ]
        for item in items:
            (row,) = await claim_many(storage, 10)
            assert row.item.id == item.id
            assert await claim_many(storage, 10) == ()
            await self.end(storage, row)

    async def test_a_concurrency_key_is_its_orgs_own(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        for org in (org_id, other_org):
            await self.put_many(storage, org, 2, concurrency_key="k")
        assert {row.org_id for row in await claim_many(storage, 10)} == {org_id, other_org}
        assert await claim_many(storage, 10) == ()

    async def test_a_key_at_its_limit_holds_up_nothing_else(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put_many(storage, org_id, 300, concurrency_key="busy", available_at=in_past(hours=1), priority=9)
        free = await self.put_many(storage, org_id, 2)
        free += await self.put_many(storage, org_id, 1, concurrency_key="idle")
        free += await self.put_many(storage, other_org, 1)
        claimed = {row.item.id for row in await claim_many(storage, 10)}
        assert claimed >= {item.id for item in free}
        assert len(claimed) == 5

    async def test_many_keys_at_their_limits_hold_up_nothing_else(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(2):
            await storage.create_items(org_id, [a_work_item(concurrency_key=f"k{n}") for n in range(60)])
        assert len(await claim_many(storage, 100)) == 60
        (free,) = await self.put_many(storage, org_id, 1, concurrency_key="free", priority=-9)
        assert [row.item.id for row in await claim_many(storage, 10)] == [free.id]

    async def test_the_keys_of_an_org_take_turns(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(key_limit(1000), ORIGIN)
        await self.put_many(storage, org_id, 30, concurrency_key="much")
        (one,) = await self.put_many(storage, org_id, 1, concurrency_key="little")
        claimed = [row.item.id for _ in range(10) for row in await claim_many(storage, 1)]
        assert one.id in claimed

    async def test_a_limit_of_keys_holds_for_each_key(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(key_limit(2), ORIGIN)
        for key in ("a", "b"):
            await self.put_many(storage, org_id, 4, concurrency_key=key)
        claimed = [row.item.concurrency_key for row in await claim_many(storage, 10)]
        assert (claimed.count("a"), claimed.count("b")) == (2, 2)

    async def test_a_limit_that_is_raised_or_lowered_or_removed_holds_from_the_next_claim_on(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put_many(storage, org_id, 20)
        num_running = 0
        for limit, taken in ((2, 2), (5, 3), (4, 0), (7, 2)):
            await storage.put_control(kind_limit(limit), ORIGIN)
            rows = await claim_many(storage, 10)
            assert len(rows) == taken
            num_running += len(rows)
        assert await storage.delete_control(kind_limit(1))
        assert len(await claim_many(storage, 20)) == 20 - num_running

    async def test_a_limit_set_while_items_run_counts_them(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put_many(storage, org_id, 6)
        assert len(await claim_many(storage, 2)) == 2
        await storage.put_control(kind_limit(3), ORIGIN)
        assert len(await claim_many(storage, 10)) == 1

    @pytest.mark.parametrize("of_what", ["kind", "org", "key"])
    async def test_a_dead_holder_does_not_count(
        self, storage: WorkStorageInterface, org_id: UUID, of_what: str
    ) -> None:
        limits = {"kind": kind_limit(1), "org": org_limit(1), "key": key_limit(1)}
        await storage.put_control(limits[of_what], ORIGIN)
        key = "k" if of_what == "key" else None
        await self.put_many(storage, org_id, 3, concurrency_key=key)
        dead = await claim_one(storage, NO_LEASE)
        (live,) = await claim_many(storage, 10)
        assert live.item.id != dead.item.id
        assert await claim_many(storage, 10) == ()

    @pytest.mark.parametrize("of_what", ["kind", "key"])
    async def test_a_stale_holders_end_lets_nobody_in(
        self, storage: WorkStorageInterface, org_id: UUID, of_what: str
    ) -> None:
        await storage.put_control(kind_limit(1), ORIGIN)
        await self.put_many(storage, org_id, 3, concurrency_key="k" if of_what == "key" else None)
        stale = await claim_one(storage, NO_LEASE)
        await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        assert len(await claim_many(storage, 10)) == 1
        assert not (await storage.write_item(org_id, rules.done(stale.item, None))).is_recorded
        assert await claim_many(storage, 10) == ()

    async def test_recovery_is_not_held_up_by_a_limit(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.put_control(kind_limit(2), ORIGIN)
        await self.put_many(storage, org_id, 4)
        dead = await claim_one(storage, NO_LEASE)
        assert len(await claim_many(storage, 10)) == 2
        swept = await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        assert [(item.id, item.status) for item in swept] == [(dead.item.id, WorkStatus.QUEUED)]

    async def test_a_holder_of_a_key_whose_lease_has_passed_may_not_renew_it(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put_many(storage, org_id, 2, concurrency_key="k")
        dead = await claim_one(storage, NO_LEASE)
        assert len(await claim_many(storage, 10)) == 1
        assert await storage.extend_leases([(org_id, renewal_of(dead.item))], LEASE) == ()
        assert await storage.extend_lease(org_id, renewal_of(dead.item), LEASE) is None

    async def test_what_is_not_due_holds_up_nothing_of_its_key(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put_many(
            storage, org_id, 1, concurrency_key="k", available_at=utcnow() + timedelta(days=1), priority=9
        )
        (due,) = await self.put_many(storage, org_id, 1, concurrency_key="k")
        assert [row.item.id for row in await claim_many(storage, 10)] == [due.id]

    async def test_items_that_are_retried_take_their_place_again(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put_many(storage, org_id, 2, concurrency_key="k")
        (first,) = await claim_many(storage, 10)
        await storage.write_item(org_id, rules.released(first.item, ""))
        (second,) = await claim_many(storage, 10)
        await self.end(storage, second)
        assert len(await claim_many(storage, 10)) == 1

    async def test_a_lane_is_known_to_be_bounded_while_something_bounds_it(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        await storage.put_control(kind_limit(3), ORIGIN)
        await claim_many(storage, 1)
        assert storage.is_bounded(LANE)
        assert not storage.is_bounded("other")
        await storage.delete_control(kind_limit(3))
        await claim_many(storage, 1)
        assert not storage.is_bounded(LANE)

    async def test_what_is_held_back_is_counted_by_reason(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        assert await storage.read_held_back() == WorkHeldBack()
        await self.put_many(storage, org_id, 3, concurrency_key="k")
        await self.put_many(storage, org_id, 2, ordering_key="k", lane="other")
        await self.put_many(storage, other_org, 4, kind=WorkKind.DELIVER_WEBHOOK)
        assert len(await claim_many(storage, 10)) == 1
        assert await storage.read_held_back() == WorkHeldBack(num_of_full_keys=2, num_out_of_order=1)
        for control in (
            kind_limit(1),
            org_limit(1, org_id),
            WorkPause(lane="other"),
            WorkRate(kind=WorkKind.DELIVER_WEBHOOK, per_second=SLOW),
        ):
            await storage.put_control(control, ORIGIN)
        (begun,) = await storage.claim_batch(LANE, (WorkKind.DELIVER_WEBHOOK,), "worker-1", LEASE, 10)
        assert begun.org_id == other_org
        assert await storage.read_held_back() == WorkHeldBack(
            num_paused=2,
            num_of_full_kinds=4,
            num_of_spent_rates=3,
            num_of_full_orgs=4,
            num_of_full_keys=2,
            num_out_of_order=1,
        )
