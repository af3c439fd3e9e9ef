"""Ordering keys: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from uuid import UUID

from headrace.om.base import utcnow
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow  # noqa: TC001 - like the other cases, no block for one import
from headrace.om.work.types.work_item import WorkItem
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
from om.tests.contracts.work_sharing import claim_many

KEY = "account-1"


class OrderCases(WorkStorageCases):
    async def line(self, storage: WorkStorageInterface, org_id: UUID, num_items: int = 3) -> list[WorkItem]:
        """Items of one key, the first the oldest."""
        return [
            await self.put(storage, org_id, ordering_key=KEY, available_at=in_past(minutes=60 - place))
            for place in range(num_items)
        ]

    async def taken(self, storage: WorkStorageInterface) -> list[UUID]:
        return [row.item.id for row in await claim_many(storage, 10)]

    async def test_items_of_one_key_run_one_at_a_time_in_the_order_in_which_they_became_due(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        line = await self.line(storage, org_id)
        for item in line:
            (row,) = await claim_many(storage, 10)
            assert row.item.id == item.id
            assert await self.taken(storage) == []
            await storage.write_item(org_id, rules.done(row.item, None))

    async def test_items_enqueued_together_run_in_the_order_of_their_ids(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        items = [a_work_item(ordering_key=KEY) for _ in range(5)]
        await storage.create_items(org_id, items[::-1])
        for item in items:
            (row,) = await claim_many(storage, 10)
            assert row.item.id == item.id
            await storage.write_item(org_id, rules.done(row.item, None))

    async def test_priority_changes_no_order_within_a_key(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        first = await self.put(storage, org_id, ordering_key=KEY, available_at=in_past(minutes=2), priority=-9)
        await self.put(storage, org_id, ordering_key=KEY, available_at=in_past(minutes=1), priority=9)
        assert await self.taken(storage) == [first.id]

    async def test_keys_and_orgs_do_not_wait_for_each_other(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        line = await self.line(storage, org_id)
        theirs = await self.line(storage, other_org)
        other_key = await self.put(storage, org_id, ordering_key="account-2")
        without = await self.put(storage, org_id)
        same_text = await self.put(storage, org_id, concurrency_key=KEY)
        wanted = {line[0].id, theirs[0].id, other_key.id, without.id, same_text.id}
        assert set(await self.taken(storage)) == wanted

    async def test_a_long_line_holds_up_nothing_else(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await storage.create_items(
            org_id, [a_work_item(ordering_key=KEY, available_at=in_past(hours=1), priority=9) for _ in range(300)]
        )
        free = [await self.put(storage, org_id), await self.put(storage, org_id, ordering_key="account-2")]
        assert set(await self.taken(storage)) >= {item.id for item in free}

    async def test_a_head_that_waits_for_its_next_attempt_keeps_its_place(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.line(storage, org_id)
        (row,) = await claim_many(storage, 10)
        await storage.write_item(org_id, rules.failed(row.item, "boom", after=timedelta(hours=1)))
        assert await self.taken(storage) == []

    async def test_a_head_that_comes_back_goes_first_again(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        line = await self.line(storage, org_id)
        for end in (rules.released, lambda item, _: rules.failed(item, "boom", after=timedelta(0))):
            (row,) = await claim_many(storage, 10)
            assert row.item.id == line[0].id
            await storage.write_item(org_id, end(row.item, ""))
        assert await self.taken(storage) == [line[0].id]

    async def test_a_head_that_is_parked_keeps_its_place(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.line(storage, org_id)
        (row,) = await claim_many(storage, 10)
        await storage.write_item(org_id, rules.parked(row.item, "later", utcnow() + timedelta(days=1)))
        assert await self.taken(storage) == []

    async def test_a_dead_letter_lets_the_next_one_pass(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        line = await self.line(storage, org_id)
        (row,) = await claim_many(storage, 10)
        await storage.write_item(org_id, rules.refused(row.item, "no"))
        assert await self.taken(storage) == [line[1].id]

    async def test_a_dead_letter_that_is_retried_takes_its_place_by_when_it_is_due(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        line = await self.line(storage, org_id)
        (row,) = await claim_many(storage, 10)
        await storage.write_item(org_id, rules.refused(row.item, "no"))
        await storage.retry_item(org_id, line[0].id)
        for item in (line[1], line[2], line[0]):
            (row,) = await claim_many(storage, 10)
            assert row.item.id == item.id
            await storage.write_item(org_id, rules.done(row.item, None))

    async def test_a_head_that_is_cancelled_or_deleted_lets_the_next_one_pass(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        line = await self.line(storage, org_id)
        await storage.cancel_item(org_id, line[0].id)
        await storage.delete_item(org_id, line[1].id)
        assert await self.taken(storage) == [line[2].id]

    async def test_a_waiting_head_that_is_cancelled_lets_the_next_one_pass(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        line = await self.line(storage, org_id)
        (row,) = await claim_many(storage, 10)
        await storage.write_item(org_id, rules.failed(row.item, "boom", after=timedelta(hours=1)))
        await storage.cancel_item(org_id, row.item.id)
        assert await self.taken(storage) == [line[1].id]

    async def test_an_item_that_is_not_due_holds_up_nobody_until_it_is_begun(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, ordering_key=KEY, available_at=utcnow() + timedelta(days=1))
        due = await self.line(storage, org_id, 2)
        for item in due:
            (row,) = await claim_many(storage, 10)
            assert row.item.id == item.id
            await storage.write_item(org_id, rules.done(row.item, None))

    async def test_a_head_whose_holder_died_lets_nobody_pass_before_the_sweep(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        line = await self.line(storage, org_id)
        await claim_one(storage, NO_LEASE)
        assert await self.taken(storage) == []
        await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        assert await self.taken(storage) == [line[0].id]

    async def test_an_order_holds_across_kinds_and_lanes(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(
            storage, org_id, ordering_key=KEY, kind=WorkKind.DELIVER_WEBHOOK, available_at=in_past(minutes=9)
        )
        await self.put(storage, org_id, ordering_key=KEY, lane="other", available_at=in_past(minutes=5))
        await self.put(storage, org_id, ordering_key=KEY, available_at=in_past(minutes=1))
        assert await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 10) == ()
        assert await storage.claim_batch("other", BOTH_KINDS, "worker-1", LEASE, 10) == ()
        assert len(await storage.claim_batch(LANE, BOTH_KINDS, "worker-1", LEASE, 10)) == 1

    async def test_a_head_keeps_its_place_where_nobody_has_claimed_since_it_became_due(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        soon = await storage.read_clock() + timedelta(milliseconds=50)
        head = await self.put(storage, org_id, ordering_key=KEY, lane="other", available_at=soon)
        async with asyncio.timeout(10):
            while await storage.read_clock() <= soon:  # noqa: ASYNC110 - the storage's clock tells of no event
                await asyncio.sleep(0.01)
        later = await self.put(storage, org_id, ordering_key=KEY)
        assert await self.taken(storage) == []
        (row,) = await storage.claim_batch("other", KINDS, "worker-1", LEASE, 10)
        assert row.item.id == head.id
        await storage.write_item(org_id, rules.done(row.item, None))
        assert await self.taken(storage) == [later.id]

    async def test_racing_claimers_keep_the_order(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        for org in (org_id, other_org):
            await storage.create_items(org, [a_work_item(ordering_key=KEY) for _ in range(30)])
        began: list[ClaimedRow] = []
        ended: set[UUID] = set()

        async def work(number: int) -> None:
            while len(began) < 60:
                for row in await storage.claim_batch(LANE, KINDS, f"worker-{number}", LEASE, 2):
                    before = [each.item.id for each in began if each.org_id == row.org_id]
                    assert set(before) <= ended
                    assert all(item_id < row.item.id for item_id in before)
                    began.append(row)
                    ended.add(row.item.id)
                    await storage.write_item(row.org_id, rules.done(row.item, None))

        await asyncio.wait_for(asyncio.gather(*(work(number) for number in range(8))), 45)
        assert len({row.item.id for row in began}) == 60
