"""Operators and other tenants: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headrace.om.base import utcnow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import (
    BOTH_KINDS,
    KINDS,
    LANE,
    LEASE,
    MAX_CRASHES,
    NO_LEASE,
    WorkStorageCases,
    claim_one,
    in_past,
    renewal_of,
)


class OperatorCases(WorkStorageCases):
    async def test_a_queued_item_is_cancelled_at_once(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put(storage, org_id)
        cancelled = await storage.cancel_item(org_id, item.id)
        assert cancelled is not None
        assert cancelled.status is WorkStatus.CANCELLED
        assert await storage.claim_next(LANE, KINDS, "worker-1", LEASE) is None
        assert await storage.cancel_item(org_id, item.id) is None

    async def test_a_cancel_races_a_claim_and_the_item_is_settled_once(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(10):
            item = await self.put(storage, org_id)
            claimed, cancelled = await asyncio.gather(
                storage.claim_next(LANE, KINDS, "worker-1", LEASE), storage.cancel_item(org_id, item.id)
            )
            assert cancelled is not None
            if claimed is not None:
                settled = await storage.write_item(org_id, rules.released(claimed.item))
                assert settled.status in {WorkStatus.CANCELLED, None}
            assert await self.status_of(storage, org_id, item.id) is WorkStatus.CANCELLED

    async def test_a_claimed_item_is_flagged_once(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        first = await storage.cancel_item(org_id, item.id)
        second = await storage.cancel_item(org_id, item.id)
        assert first is not None
        assert second is not None
        assert first.status is WorkStatus.CLAIMED
        assert first.cancel_requested_at == second.cancel_requested_at is not None

    async def test_a_cancel_of_many_ends_what_waits_and_flags_what_runs(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for end in (rules.done, rules.released):
            await self.put(storage, org_id, priority=9)
            await storage.write_item(org_id, end((await claim_one(storage)).item, "said"))
        running = (await claim_one(storage)).item
        waiting = await self.put(storage, org_id)
        elsewhere = await self.put(storage, org_id, lane="other")
        asked = await storage.cancel_items(org_id, WorkFilter(lane=LANE), 10)
        assert [(each.id, each.status) for each in asked] == [
            (waiting.id, WorkStatus.CANCELLED),
            (running.id, WorkStatus.CLAIMED),
        ]
        assert asked == tuple([await storage.read_item(org_id, each.id) for each in asked])
        assert all(each.cancel_requested_at is not None for each in asked)
        untouched = await storage.read_item(org_id, elsewhere.id)
        assert untouched is not None
        assert untouched.status is WorkStatus.QUEUED

    async def test_a_cancel_of_many_goes_on_below_the_last_page(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        ids = [(await self.put(storage, org_id)).id for _ in range(3)]
        await claim_one(storage)
        first = await storage.cancel_items(org_id, WorkFilter(), 2)
        second = await storage.cancel_items(org_id, WorkFilter(), 2, first[-1].id)
        assert [each.id for each in (*first, *second)] == sorted(ids, reverse=True)
        assert [each.id for each in await storage.cancel_items(org_id, WorkFilter(), 2)] == [ids[0]]

    async def test_racing_cancels_and_claims_of_many_end_each_item_once(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(40):
            await self.put(storage, org_id)
        claims = asyncio.gather(*(storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 10) for _ in range(3)))
        await asyncio.gather(*(storage.cancel_items(org_id, WorkFilter(), 100) for _ in range(2)))
        claimed = {row.item.id for rows in await claims for row in rows}
        left = await storage.read_items(org_id, WorkFilter(), 100)
        assert {each.id for each in left if each.status is WorkStatus.CLAIMED} == claimed
        assert {each.id for each in left if each.status is WorkStatus.CANCELLED} == {each.id for each in left} - claimed

    async def test_a_settled_item_is_queued_again_as_new(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, max_attempts=1)
        item = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.failed(item, "boom"))
        again = await storage.retry_item(org_id, item.id)
        assert again is not None
        assert (again.status, again.attempts, again.crashes, again.last_error) == (WorkStatus.QUEUED, 0, 0, None)
        assert await storage.retry_item(org_id, item.id) is None
        assert (await claim_one(storage)).item.id == item.id

    async def test_an_item_is_deleted_unless_it_is_claimed(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        held = (await claim_one(storage)).item
        queued = await self.put(storage, org_id, idempotency_key="key")
        assert not await storage.delete_item(org_id, held.id)
        assert await storage.delete_item(org_id, queued.id)
        assert await storage.read_item_by_key(org_id, "key") is None
        assert not await storage.delete_item(org_id, queued.id)

    async def test_pages_go_down_by_id_without_gap_or_repeat(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        ids = [(await self.put(storage, org_id)).id for _ in range(5)]
        first = await storage.read_items(org_id, WorkFilter(), 3)
        second = await storage.read_items(org_id, WorkFilter(), 3, first[-1].id)
        assert [item.id for item in (*first, *second)] == sorted(ids, reverse=True)

    @pytest.mark.parametrize(
        "where",
        [
            {"status": WorkStatus.CLAIMED},
            {"kind": WorkKind.DELIVER_WEBHOOK},
            {"lane": "other"},
            {"origin": "somebody"},
            {"has_error": True},
            {"started_before": utcnow() + timedelta(days=1), "lane": "other"},
        ],
    )
    async def test_a_filter_narrows(self, storage: WorkStorageInterface, org_id: UUID, where: dict[str, Any]) -> None:
        await self.put(storage, org_id, priority=-1)
        fields = {"kind": WorkKind.DELIVER_WEBHOOK, "lane": "other", "origin": "somebody"}
        item = await self.put(storage, org_id, **fields)
        claimed = await claim_one(storage, lane="other", kinds=BOTH_KINDS)
        if "has_error" in where:
            await storage.write_item(org_id, rules.failed(claimed.item, "boom"))
        assert [each.id for each in await storage.read_items(org_id, WorkFilter(**where), 10)] == [item.id]

    async def test_what_runs_is_found_by_when_it_began(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        _, running, ended = [await self.put(storage, org_id, priority=priority) for priority in (0, 1, 2)]
        claimed = await claim_one(storage)
        assert (claimed.item.id, (await claim_one(storage)).item.id) == (ended.id, running.id)
        await storage.write_item(org_id, rules.done(claimed.item, None))

        async def begun_before(instant: Any) -> list[UUID]:  # noqa: ANN401 - an instant
            where = WorkFilter(status=WorkStatus.CLAIMED, started_before=instant)
            return [each.id for each in await storage.read_items(org_id, where, 10)]

        assert await begun_before(utcnow() + timedelta(hours=1)) == [running.id]
        assert await begun_before(in_past(hours=1)) == []

    @pytest.mark.parametrize("named", ["kind", "lane", "origin"])
    async def test_settled_items_of_a_filter_are_removed_and_no_others(
        self, storage: WorkStorageInterface, org_id: UUID, named: str
    ) -> None:
        fields = {"kind": WorkKind.DELIVER_WEBHOOK, "lane": "other", "origin": "somebody"}
        for place in (fields, {}):
            await self.put(storage, org_id, **place)
            await self.put(storage, org_id, **place, available_at=utcnow() + timedelta(hours=9))
            claimed = await claim_one(storage, lane=place.get("lane", LANE), kinds=BOTH_KINDS)
            await storage.write_item(org_id, rules.done(claimed.item, None))
        where = WorkFilter.model_validate({"status": WorkStatus.DONE, named: fields[named]})
        assert await storage.delete_items(org_id, where, 10) == 1
        left = await storage.read_items(org_id, WorkFilter(), 10)
        assert sorted((each.status, each.origin) for each in left) == [
            (WorkStatus.DONE, "tests"),
            (WorkStatus.QUEUED, "somebody"),
            (WorkStatus.QUEUED, "tests"),
        ]

    async def test_dead_letters_stay_where_those_that_are_done_are_removed(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for end in (rules.done, rules.refused):
            await self.put(storage, org_id)
            await storage.write_item(org_id, end((await claim_one(storage)).item, "said"))
        assert await storage.delete_items(org_id, WorkFilter(status=WorkStatus.DONE), 10) == 1
        assert [each.status for each in await storage.read_items(org_id, WorkFilter(), 10)] == [WorkStatus.FAILED]

    async def test_the_status_counts_and_names_the_longest_wait(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, available_at=in_past(hours=2))
        await self.put(storage, org_id, available_at=utcnow() + timedelta(hours=9))
        await self.put(storage, org_id, lane="other")
        report = await storage.read_status(org_id)
        assert [(c.status, c.kind, c.lane, c.num_items) for c in report.counts] == [
            (WorkStatus.QUEUED, WorkKind.NOOP, LANE, 2),
            (WorkStatus.QUEUED, WorkKind.NOOP, "other", 1),
        ]
        assert report.oldest_waiting is not None
        assert timedelta(minutes=119) < report.oldest_waiting < timedelta(minutes=121)


class OtherTenantCases(WorkStorageCases):
    """Each method presents another tenant's identifier; it finds nothing and changes nothing."""

    async def test_reads_find_nothing(self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID) -> None:
        item = await self.put(storage, org_id, idempotency_key="key")
        assert await storage.read_item(other_org, item.id) is None
        assert await storage.read_item_by_key(other_org, "key") is None
        assert await storage.read_items(other_org, WorkFilter(), 10) == ()
        assert (await storage.read_status(other_org)).counts == ()

    async def test_an_insert_with_its_id_makes_a_row_of_its_own(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        item = await self.put(storage, org_id, origin="theirs")
        mine = item.model_copy(update={"origin": "mine"})
        created = await storage.create_items(other_org, [mine])
        assert created[0].outcome is InsertOutcome.INSERTED
        theirs = await storage.read_item(org_id, item.id)
        assert theirs is not None
        assert theirs.origin == "theirs"

    async def test_settlements_with_the_true_token_change_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        end = rules.done(item, "stolen")
        assert not (await storage.write_item(other_org, end)).is_recorded
        assert not (await storage.settle_batch([(other_org, end)]))[0].is_recorded
        assert await storage.read_item(org_id, item.id) == item

    async def test_renewals_and_progress_change_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        assert await storage.extend_lease(other_org, renewal_of(item), LEASE) is None
        assert await storage.extend_leases([(other_org, renewal_of(item))], LEASE) == ()
        assert not await storage.write_progress(other_org, renewal_of(item), 1.0, "")
        assert await storage.read_item(org_id, item.id) == item

    async def test_operators_change_nothing(self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID) -> None:
        item = await self.put(storage, org_id)
        before = await storage.read_item(org_id, item.id)
        assert await storage.cancel_item(other_org, item.id) is None
        assert await storage.cancel_items(other_org, WorkFilter(), 10) == ()
        assert not await storage.delete_item(other_org, item.id)
        assert await storage.read_item(org_id, item.id) == before
        await storage.cancel_item(org_id, item.id)
        assert await storage.retry_item(other_org, item.id) is None

    async def test_the_sweep_leaves_a_stale_item_claimed(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage, NO_LEASE)).item
        assert await storage.requeue_stale(other_org, timedelta(0), 10, max_crashes=MAX_CRASHES) == ()
        assert await storage.fail_orphaned(other_org, 10) == 0
        assert await storage.read_item(org_id, item.id) == item

    async def test_the_purge_leaves_settled_items(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        item = await self.put(storage, org_id)
        await storage.cancel_item(org_id, item.id)
        assert await storage.purge_items(other_org, timedelta(0), 10) == 0
        assert await storage.read_item(org_id, item.id) is not None
