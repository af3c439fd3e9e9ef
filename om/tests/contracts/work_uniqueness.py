"""Uniqueness beyond the key: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import MAX_CRASHES, NO_LEASE, WorkStorageCases, a_work_item, claim_one

A_HASH = UUID(int=0xA)
B_HASH = UUID(int=0xB)


def a_unique_item(unique_hash: UUID = A_HASH, **fields: Any) -> WorkItem:  # noqa: ANN401 - any field
    return a_work_item(unique_for=("note", 'odd "name"'), unique_hash=unique_hash, **fields)


class UniquenessCases(WorkStorageCases):
    """No two unsettled items of a tenant agree in what they are unique for."""

    async def put_unique(self, storage: WorkStorageInterface, org_id: UUID, **fields: Any) -> WorkItem:  # noqa: ANN401
        item = a_unique_item(**fields)
        assert await storage.create_item(org_id, item) is InsertOutcome.INSERTED
        return item

    async def test_what_an_item_is_unique_for_reads_back(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put_unique(storage, org_id)
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.unique_for, read.unique_hash) == (item.unique_for, item.unique_hash)

    async def test_one_that_agrees_is_reported_like_a_key(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put_unique(storage, org_id)
        created = await storage.create_items(org_id, [a_unique_item(B_HASH), a_unique_item(), a_work_item()])
        assert [each.outcome for each in created] == [
            InsertOutcome.INSERTED,
            InsertOutcome.KEY_EXISTS,
            InsertOutcome.INSERTED,
        ]
        assert created[1].item_id == item.id

    async def test_of_two_that_agree_in_one_batch_the_first_stays(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        first, second = a_unique_item(), a_unique_item()
        created = await storage.create_items(org_id, [first, second])
        assert [each.item_id for each in created] == [first.id, first.id]

    @pytest.mark.parametrize(("key", "other_key"), [(None, "k"), ("k", "l"), ("k", None)])
    async def test_of_two_that_agree_in_one_batch_the_first_stays_whatever_their_keys_are(
        self, storage: WorkStorageInterface, org_id: UUID, key: str | None, other_key: str | None
    ) -> None:
        first, second = a_unique_item(idempotency_key=other_key), a_unique_item(idempotency_key=key)
        created = await storage.create_items(org_id, [first, second])
        assert [each.item_id for each in created] == [first.id, first.id]
        same_key = [a_work_item(idempotency_key="m"), a_unique_item(B_HASH, idempotency_key="m")]
        created = await storage.create_items(org_id, same_key)
        assert [each.item_id for each in created] == [same_key[0].id, same_key[0].id]

    async def test_one_that_is_kept_out_by_its_key_keeps_no_other_out(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        there = a_work_item(idempotency_key="k")
        await storage.create_item(org_id, there)
        items = [a_unique_item(idempotency_key="k"), a_unique_item(idempotency_key="l"), a_unique_item()]
        created = await storage.create_items(org_id, items)
        assert [each.item_id for each in created] == [there.id, items[1].id, items[1].id]

    async def test_what_was_in_an_items_way_is_reported_and_not_what_took_its_key_after_it(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        items = [a_unique_item(), a_unique_item(idempotency_key="k"), a_work_item(idempotency_key="k")]
        created = await storage.create_items(org_id, items)
        assert [each.item_id for each in created] == [items[0].id, items[0].id, items[2].id]

    async def test_it_is_free_again_when_the_first_has_settled(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put_unique(storage, org_id)
        held = (await claim_one(storage)).item
        assert await storage.create_item(org_id, a_unique_item()) is InsertOutcome.KEY_EXISTS
        await storage.write_item(org_id, rules.done(held, None))
        assert await storage.create_item(org_id, a_unique_item()) is InsertOutcome.INSERTED

    async def test_it_is_free_again_when_the_first_is_removed(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        item = await self.put_unique(storage, org_id)
        await storage.delete_item(org_id, item.id)
        assert await storage.create_item(org_id, a_unique_item()) is InsertOutcome.INSERTED

    async def test_an_item_of_another_tenant_is_free(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put_unique(storage, org_id)
        assert await storage.create_item(other_org, a_unique_item()) is InsertOutcome.INSERTED

    async def test_a_failed_attempt_and_a_sweep_keep_it(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put_unique(storage, org_id)
        await storage.write_item(org_id, rules.failed((await claim_one(storage)).item, "boom", after=timedelta(0)))
        assert await storage.create_item(org_id, a_unique_item()) is InsertOutcome.KEY_EXISTS
        await claim_one(storage, NO_LEASE)
        (requeued,) = await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        assert requeued.status is WorkStatus.QUEUED
        assert await storage.create_item(org_id, a_unique_item()) is InsertOutcome.KEY_EXISTS

    async def test_a_retry_that_would_collide_changes_nothing(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        old = await self.put_unique(storage, org_id)
        await storage.cancel_item(org_id, old.id)
        new = await self.put_unique(storage, org_id)
        assert await storage.retry_item(org_id, old.id) is None
        assert await self.status_of(storage, org_id, old.id) is WorkStatus.CANCELLED
        await storage.cancel_item(org_id, new.id)
        assert await storage.retry_item(org_id, old.id) is not None
        assert await storage.create_item(org_id, a_unique_item()) is InsertOutcome.KEY_EXISTS

    async def test_a_retry_of_many_reports_who_collides_and_queues_the_others(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        old = [await self.put_unique(storage, org_id, unique_hash=h) for h in (A_HASH, B_HASH)]
        plain = await self.put(storage, org_id)
        for item in (*old, plain):
            await storage.cancel_item(org_id, item.id)
        await self.put_unique(storage, org_id)
        retried = await storage.retry_items(org_id, WorkFilter(status=WorkStatus.CANCELLED), 10)
        assert {each.item_id: each.is_queued for each in retried} == {
            old[0].id: False,
            old[1].id: True,
            plain.id: True,
        }

    async def test_of_two_settled_ones_that_agree_one_is_retried(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(2):
            item = await self.put_unique(storage, org_id)
            await storage.cancel_item(org_id, item.id)
        retried = await storage.retry_items(org_id, WorkFilter(), 10)
        assert [each.is_queued for each in retried] == [False, True]

    async def test_racing_enqueues_leave_one(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        outcomes = await asyncio.gather(*(storage.create_item(org_id, a_unique_item()) for _ in range(8)))
        assert outcomes.count(InsertOutcome.INSERTED) == 1

    async def test_racing_enqueues_and_retries_leave_one_unsettled(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(5):
            old = [await self.put_unique(storage, org_id)]
            await storage.cancel_item(org_id, old[0].id)
            old.append(await self.put_unique(storage, org_id))
            await storage.cancel_item(org_id, old[1].id)
            await asyncio.gather(
                storage.create_item(org_id, a_unique_item()),
                storage.retry_items(org_id, WorkFilter(), 10),
                *(storage.retry_item(org_id, item.id) for item in old),
            )
            left = [item for item in await storage.read_items(org_id, WorkFilter(), 50) if item.settled_at is None]
            assert len(left) == 1
            await storage.cancel_item(org_id, left[0].id)

    async def test_two_batches_that_agree_in_opposite_order_both_end(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        hashes = [UUID(int=number + 1) for number in range(100)]
        batches = [
            [a_unique_item(each, idempotency_key=str(place)) for place, each in enumerate(order)]
            for order in (hashes, hashes[::-1])
        ]
        created = await asyncio.gather(*(storage.create_items(org_id, batch) for batch in batches))
        new = [each for batch in created for each in batch if each.outcome is InsertOutcome.INSERTED]
        assert len(new) == len(hashes)
