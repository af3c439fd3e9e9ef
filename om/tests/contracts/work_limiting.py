"""Limits and rates: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headrace.om.base import new_id, utcnow
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.control import LimitScope, WorkControl, WorkLimit, WorkPause, WorkRate
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
    renewal_of,
)
from om.tests.contracts.work_sharing import ORIGIN, claim_many

LANES = tuple(f"lane-{number}" for number in range(8))

SLOW = 0.001
"""A rate that fills nothing while a test runs."""


def kind_limit(max_running: int, kind: WorkKind = WorkKind.NOOP) -> WorkLimit:
    return WorkLimit(scope=LimitScope.KIND, kind=kind, max_running=max_running)


def org_limit(max_running: int, org_id: UUID | None = None, kind: WorkKind | None = None) -> WorkLimit:
    return WorkLimit(scope=LimitScope.ORG, org_id=org_id, kind=kind, max_running=max_running)


def key_limit(max_running: int) -> WorkLimit:
    return WorkLimit(scope=LimitScope.KEY, kind=WorkKind.NOOP, max_running=max_running)


class LimitedCases(WorkStorageCases):
    async def end(self, storage: WorkStorageInterface, row: ClaimedRow) -> None:
        assert (await storage.write_item(row.org_id, rules.done(row.item, None))).is_recorded


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
        running: list[ClaimedRow] = []
        for limit, taken in ((2, 2), (5, 3), (4, 0), (7, 2)):
            await storage.put_control(kind_limit(limit), ORIGIN)
            rows = await claim_many(storage, 10)
            assert len(rows) == taken
            running += rows
        assert await storage.delete_control(kind_limit(1))
        assert len(await claim_many(storage, 20)) == 20 - len(running)

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

    async def raced(self, storage: WorkStorageInterface, org_id: UUID, **fields: Any) -> list[ClaimedRow]:  # noqa: ANN401 - any field
        """What eight claimers take at once, each in a lane of its own."""
        for lane in LANES:
            await self.put_many(storage, org_id, 10, lane=lane, **fields)
        batches = await asyncio.gather(*(storage.claim_batch(lane, KINDS, f"w-{lane}", LEASE, 3) for lane in LANES))
        return [row for batch in batches for row in batch]

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

    async def test_racing_claims_draw_exactly_what_the_bucket_holds(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.put_control(WorkRate(kind=WorkKind.NOOP, per_second=SLOW, burst=17), ORIGIN)
        for lane in LANES:
            await self.put_many(storage, org_id, 10, lane=lane)
        batches = await asyncio.gather(*(storage.claim_batch(lane, KINDS, f"w-{lane}", LEASE, 5) for lane in LANES))
        assert sum(len(batch) for batch in batches) == 17

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
