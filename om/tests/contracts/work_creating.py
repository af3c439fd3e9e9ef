"""Creating and claiming: cases of the work storage's contract."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.base import EMPTY_UUID, new_id, utcnow
from headrace.om.exceptions import ValidationFailed
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import (
    BOTH_KINDS,
    KINDS,
    LANE,
    LEASE,
    WorkStorageCases,
    a_work_item,
    claim_one,
    in_past,
    payload,
)


class CreateCases(WorkStorageCases):
    async def test_an_item_reads_back_as_written(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        at = in_past(hours=1)
        content = payload(note="näh \u2028 \U0001f469\u200d\U0001f680", nested={"list": [1, {"a": None}], "f": 1.5})
        item = await self.put(storage, org_id, payload=content, available_at=at, priority=7, target_id=new_id())
        read = await storage.read_item(org_id, item.id)
        assert read == item

    async def test_an_item_without_an_instant_is_available_at_once(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        item = await self.put(storage, org_id)
        claimed = await claim_one(storage)
        assert claimed.item.id == item.id

    async def test_a_taken_id_is_reported_and_the_row_stays(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put(storage, org_id, origin="first")
        again = item.model_copy(update={"origin": "second"})
        assert await storage.create_item(org_id, again) is InsertOutcome.ID_EXISTS
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert read.origin == "first"

    async def test_a_taken_key_is_reported_and_the_row_is_found_by_it(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        item = await self.put(storage, org_id, idempotency_key="key")
        assert await storage.create_item(org_id, a_work_item(idempotency_key="key")) is InsertOutcome.KEY_EXISTS
        found = await storage.read_item_by_key(org_id, "key")
        assert found is not None
        assert found.id == item.id

    async def test_a_key_of_another_tenant_is_free(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id, idempotency_key="key")
        assert await storage.create_item(other_org, a_work_item(idempotency_key="key")) is InsertOutcome.INSERTED

    async def test_a_claimed_item_is_untouched_when_it_is_enqueued_again(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        item = await self.put(storage, org_id, idempotency_key="key")
        claimed = await claim_one(storage)
        assert await storage.create_item(org_id, item) is InsertOutcome.ID_EXISTS
        assert await storage.create_item(org_id, a_work_item(idempotency_key="key")) is InsertOutcome.KEY_EXISTS
        assert await storage.read_item(org_id, item.id) == claimed.item

    async def test_a_batch_reports_each_item(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        taken = await self.put(storage, org_id, idempotency_key="taken")
        same_key = [a_work_item(idempotency_key="new") for _ in range(2)]
        items = [a_work_item(), a_work_item(idempotency_key="taken"), *same_key, taken]
        created = await storage.create_items(org_id, items)
        assert [(each.outcome, each.item_id) for each in created] == [
            (InsertOutcome.INSERTED, items[0].id),
            (InsertOutcome.KEY_EXISTS, taken.id),
            (InsertOutcome.INSERTED, same_key[0].id),
            (InsertOutcome.KEY_EXISTS, same_key[0].id),
            (InsertOutcome.ID_EXISTS, taken.id),
        ]

    async def test_two_batches_with_the_same_keys_reversed_both_end(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        keys = [f"key-{number:03}" for number in range(200)]
        batches = [[a_work_item(idempotency_key=key) for key in order] for order in (keys, keys[::-1])]
        created = await asyncio.gather(*(storage.create_items(org_id, batch) for batch in batches))
        new = [each for batch in created for each in batch if each.outcome is InsertOutcome.INSERTED]
        assert len(new) == len(keys)

    async def test_two_batches_of_the_same_items_in_opposite_order_both_end(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(5):
            items = [a_work_item() for _ in range(200)]
            created = await asyncio.gather(
                storage.create_items(org_id, items), storage.create_items(org_id, items[::-1])
            )
            new = [each for batch in created for each in batch if each.outcome is InsertOutcome.INSERTED]
            assert len(new) == len(items)

    @pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
    async def test_a_payload_that_cannot_be_stored_is_refused_and_named(
        self, storage: WorkStorageInterface, org_id: UUID, text: str
    ) -> None:
        item = a_work_item(payload=payload(note=text))
        with pytest.raises(ValidationFailed, match="payload"):
            await storage.create_item(org_id, item)
        assert await storage.read_item(org_id, item.id) is None

    async def test_racing_enqueues_of_one_key_leave_one_item(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        outcomes = await asyncio.gather(
            *(storage.create_item(org_id, a_work_item(idempotency_key="key")) for _ in range(8))
        )
        assert sorted(outcomes).count(InsertOutcome.INSERTED) == 1


class ClaimCases(WorkStorageCases):
    async def test_a_claim_mints_a_token_and_starts_the_lease(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        item = await self.put(storage, org_id)
        claimed = await claim_one(storage)
        assert (claimed.org_id, claimed.item.id, claimed.item.attempts) == (org_id, item.id, 1)
        assert (claimed.item.status, claimed.item.claimed_by) == (WorkStatus.CLAIMED, "worker-1")
        assert claimed.item.claim_token is not None
        assert claimed.item.lease_expires_at is not None
        assert claimed.item.started_at is not None
        assert claimed.item.lease_expires_at - claimed.item.started_at == LEASE

    async def test_nothing_is_claimed_from_an_empty_lane(self, storage: WorkStorageInterface) -> None:
        assert await storage.claim_next(LANE, KINDS, "worker-1", LEASE) is None

    async def test_other_lanes_and_kinds_are_left_alone(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, lane="other")
        await self.put(storage, org_id, kind=WorkKind.DELIVER_WEBHOOK)
        assert await storage.claim_next(LANE, KINDS, "worker-1", LEASE) is None

    async def test_an_item_is_not_claimed_before_its_time(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, available_at=utcnow() + timedelta(hours=1))
        assert await storage.claim_next(LANE, KINDS, "worker-1", LEASE) is None

    async def test_a_claimed_item_is_not_claimed_again(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        await claim_one(storage)
        assert await storage.claim_next(LANE, KINDS, "worker-2", LEASE) is None

    async def test_priority_goes_before_age_and_age_before_id(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        young = await self.put(storage, org_id, available_at=in_past(minutes=1))
        old = await self.put(storage, other_org, available_at=in_past(minutes=9))
        urgent = await self.put(storage, org_id, priority=5, available_at=in_past(seconds=1))
        low = await self.put(storage, org_id, priority=-5, available_at=in_past(days=1))
        claimed = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 10)
        assert [row.item.id for row in claimed] == [urgent.id, old.id, young.id, low.id]

    async def test_future_items_of_a_higher_priority_block_nothing(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, priority=9, available_at=utcnow() + timedelta(hours=1))
        due = await self.put(storage, org_id, priority=1)
        assert (await claim_one(storage)).item.id == due.id

    async def test_of_two_kinds_the_one_that_waits_longest_comes_first(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, available_at=in_past(minutes=1))
        oldest = await self.put(storage, org_id, kind=WorkKind.DELIVER_WEBHOOK, available_at=in_past(minutes=2))
        assert (await claim_one(storage, kinds=BOTH_KINDS)).item.id == oldest.id

    async def test_a_batch_takes_no_more_than_its_limit(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        items = [await self.put(storage, org_id, available_at=in_past(minutes=9 - n)) for n in range(5)]
        claimed = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 3)
        assert [row.item.id for row in claimed] == [item.id for item in items[:3]]
        assert len({row.item.claim_token for row in claimed}) == 3

    async def test_two_claimers_at_once_never_get_the_same_item(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        claims = await asyncio.gather(*(storage.claim_next(LANE, KINDS, f"worker-{n}", LEASE) for n in range(8)))
        assert len([claim for claim in claims if claim is not None]) == 1

    async def test_racing_batches_share_the_items_without_overlap(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.create_items(org_id, [a_work_item() for _ in range(40)])
        batches = await asyncio.gather(*(storage.claim_batch(LANE, KINDS, f"w{n}", LEASE, 10) for n in range(6)))
        ids = [row.item.id for batch in batches for row in batch]
        assert len(ids) == len(set(ids))
        rest = await storage.claim_batch(LANE, KINDS, "w", LEASE, 100)
        assert len(ids) + len(rest) == 40

    async def test_every_write_after_the_enqueue_is_signed_by_the_platform(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, updated_by=new_id())
        assert (await claim_one(storage)).item.updated_by == EMPTY_UUID
