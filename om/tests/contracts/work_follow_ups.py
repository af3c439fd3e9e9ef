"""What a settlement carries besides its own row, and settlements that come again: cases of the storage's contract."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.handler import Done
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import (
    KINDS,
    LANE,
    LEASE,
    WorkStorageCases,
    a_work_item,
    claim_one,
    payload,
    with_other_token,
)

NEXT = "next"


class FollowUpCases(WorkStorageCases):
    """Follow-ups are there exactly when the settlement is."""

    async def queued(self, storage: WorkStorageInterface, org_id: UUID) -> tuple[WorkItem, ...]:
        return await storage.read_items(org_id, WorkFilter(lane=NEXT), 100)

    async def test_follow_ups_are_enqueued_with_the_settlement(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        item = (await claim_one(storage)).item
        then = [a_work_item(lane=NEXT, payload=payload(note=f"n{number}"), priority=number) for number in range(3)]
        settled = await storage.write_item(org_id, rules.done(item, Done({"ok": True}, then=then)))
        assert settled.status is WorkStatus.DONE
        stored = {each.id: each for each in await self.queued(storage, org_id)}
        for each in then:
            assert stored[each.id].model_dump(exclude={"available_at"}) == each.model_dump(exclude={"available_at"})
            assert stored[each.id].available_at is not None

    async def test_nothing_is_enqueued_when_the_claim_was_lost(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        end = rules.done((await claim_one(storage)).item, Done(then=[a_work_item(lane=NEXT)]))
        assert not (await storage.write_item(org_id, with_other_token(end))).is_recorded
        assert await self.queued(storage, org_id) == ()

    async def test_a_follow_up_whose_key_is_there_is_left_out(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id, lane="elsewhere", idempotency_key="key")
        await self.put(storage, org_id)
        then = [a_work_item(lane=NEXT, idempotency_key="key"), a_work_item(lane=NEXT)]
        settled = await storage.write_item(org_id, rules.done((await claim_one(storage)).item, Done(then=then)))
        assert settled.status is WorkStatus.DONE
        assert [each.id for each in await self.queued(storage, org_id)] == [then[1].id]

    async def test_a_batch_keeps_each_settlements_follow_ups_in_its_tenant(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        for org in (org_id, other_org, org_id):
            await self.put(storage, org)
        rows = await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 3)
        ends = [
            (row.org_id, rules.done(row.item, Done(then=[a_work_item(lane=NEXT, target_id=row.item.id)])))
            for row in rows
        ]
        ends[2] = (ends[2][0], with_other_token(ends[2][1]))
        await storage.settle_batch(ends)
        for row in rows[:2]:
            assert row.item.id in {each.target_id for each in await self.queued(storage, row.org_id)}
        targets = [each.target_id for org in (org_id, other_org) for each in await self.queued(storage, org)]
        assert len(targets) == 2

    async def test_two_batches_whose_follow_ups_have_the_same_keys_both_end(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await storage.create_items(org_id, [a_work_item() for _ in range(40)])
        held = [row.item for row in await storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 40)]
        keys = [f"key-{number}" for number in range(20)]
        batches: list[list[Any]] = [
            [
                (org_id, rules.done(item, Done(then=[a_work_item(lane=NEXT, idempotency_key=key)])))
                for item, key in zip(part, order, strict=True)
            ]
            for part, order in ((held[:20], keys), (held[20:], keys[::-1]))
        ]
        await asyncio.gather(*(storage.settle_batch(batch) for batch in batches))
        assert len(await self.queued(storage, org_id)) == 20


class ComesAgainCases(WorkStorageCases):
    """A settlement whose answer was lost is known when it is written again; another one of the same claim is not."""

    @pytest.mark.parametrize("outcome", ["done", "failed", "released"])
    async def test_a_settlement_that_comes_again_is_recorded_and_changes_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, outcome: str
    ) -> None:
        item = await self.put(storage, org_id)
        held = (await claim_one(storage)).item
        ends = {"done": rules.done(held, 1), "failed": rules.refused(held, "never"), "released": rules.released(held)}
        first = await storage.write_item(org_id, ends[outcome])
        after = await storage.read_item(org_id, item.id)
        assert await storage.write_item(org_id, ends[outcome]) == first
        assert await storage.settle_batch([(org_id, ends[outcome])]) == (first,)
        assert await storage.read_item(org_id, item.id) == after

    async def test_it_says_what_it_recorded_though_the_item_went_on(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        end = rules.released((await claim_one(storage)).item)
        await storage.write_item(org_id, end)
        held = (await claim_one(storage)).item
        assert (await storage.write_item(org_id, end)).status is WorkStatus.QUEUED
        assert await storage.read_item(org_id, held.id) == held

    async def test_it_is_unknown_once_another_claim_was_settled(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        end = rules.released((await claim_one(storage)).item)
        await storage.write_item(org_id, end)
        await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        assert not (await storage.write_item(org_id, end)).is_recorded

    async def test_another_settlement_of_the_same_claim_is_refused(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put(storage, org_id)
        held = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.done(held, 1))
        assert not (await storage.write_item(org_id, rules.done(held, 1))).is_recorded

    async def test_another_tenant_cannot_ask_for_it(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put(storage, org_id)
        end = rules.done((await claim_one(storage)).item, 1)
        await storage.write_item(org_id, end)
        assert not (await storage.write_item(other_org, end)).is_recorded
        assert not (await storage.settle_batch([(other_org, end)]))[0].is_recorded

    async def test_follow_ups_come_once(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id)
        then = [a_work_item(lane=NEXT), a_work_item(lane=NEXT, idempotency_key="key")]
        end = rules.done((await claim_one(storage)).item, Done(then=then))
        for _ in range(3):
            assert (await storage.write_item(org_id, end)).status is WorkStatus.DONE
        assert len(await storage.read_items(org_id, WorkFilter(lane=NEXT), 9)) == 2


STRANGE = WorkKind.read("SENT_BY_ANOTHER_RELEASE")


class StrangeKindCases(WorkStorageCases):
    """Rows whose kind this release does not know are looked after like any other, and never claimed."""

    async def test_it_is_shown_counted_and_found(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put(storage, org_id, kind=STRANGE, idempotency_key="key")
        read = await storage.read_item(org_id, item.id)
        assert read is not None
        assert (read.kind, read.kind.is_known, read.model_dump(mode="json")["kind"]) == (STRANGE, False, STRANGE.value)
        assert await storage.read_item_by_key(org_id, "key") == read
        assert [each.id for each in await storage.read_items(org_id, WorkFilter(kind=STRANGE), 9)] == [item.id]
        assert [each.kind for each in (await storage.read_status(org_id)).counts] == [STRANGE]

    async def test_it_is_not_claimed_for_known_kinds(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        await self.put(storage, org_id, kind=STRANGE)
        assert await storage.claim_batch(LANE, tuple(WorkKind), "worker-1", LEASE, 10) == ()

    async def test_it_is_swept_cancelled_retried_and_purged(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put(storage, org_id, kind=STRANGE)
        for change in (storage.cancel_item, storage.retry_item, storage.cancel_item):
            changed = await change(org_id, item.id)
            assert changed is not None
            assert changed.kind == STRANGE
        stale = await self.put(storage, org_id, kind=STRANGE, id=new_id())
        assert await storage.fail_orphaned(org_id, 10) == 1
        assert await self.status_of(storage, org_id, stale.id) is WorkStatus.FAILED
        assert await storage.delete_items(org_id, WorkFilter(kind=STRANGE), 10) == 2
