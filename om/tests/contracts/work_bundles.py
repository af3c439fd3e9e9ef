"""Bundles: cases of the work storage's contract."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.exceptions import ValidationFailed
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.bundle import BundleFilter, BundleStatus, FollowUp, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus
from om.tests.contracts.work_items import (
    KINDS,
    LANE,
    LEASE,
    WorkStorageCases,
    a_work_item,
    claim_one,
    payload,
)

FOLLOW_UP = FollowUp(kind=WorkKind.NOOP, payload=payload(note="all done"), lane="after", priority=4, max_attempts=7)


def a_bundle(num_items: int, **fields: Any) -> WorkBundle:  # noqa: ANN401 - any field
    bundle = WorkBundle.model_validate({"kind": "report", "origin": "tests", "num_items": num_items} | fields)
    return bundle if bundle.on_settled is None else bundle.model_copy(update={"follow_up_id": new_id()})


def items_of(bundle: WorkBundle, **fields: Any) -> list[WorkItem]:  # noqa: ANN401 - any field
    return [a_work_item(bundle_id=bundle.id, **fields) for _ in range(bundle.num_items)]


class BundleStorageCases(WorkStorageCases):
    """What the cases of bundles share."""

    async def put_bundle(
        self,
        storage: WorkStorageInterface,
        org_id: UUID,
        num_items: int,
        *,
        follow: bool = False,
        **fields: Any,  # noqa: ANN401
    ) -> WorkBundle:
        bundle = a_bundle(num_items, on_settled=FOLLOW_UP if follow else None)
        created = await storage.create_bundle(org_id, bundle, items_of(bundle, **fields))
        assert created.outcome is InsertOutcome.INSERTED
        return bundle

    async def read_bundle(self, storage: WorkStorageInterface, org_id: UUID, bundle: WorkBundle) -> WorkBundle:
        read = await storage.read_bundle(org_id, bundle.id)
        assert read is not None
        return read

    async def items_in(self, storage: WorkStorageInterface, org_id: UUID, bundle: WorkBundle) -> tuple[WorkItem, ...]:
        return await storage.read_items(org_id, WorkFilter(bundle_id=bundle.id), 1000)

    async def counts(self, storage: WorkStorageInterface, org_id: UUID, bundle: WorkBundle) -> tuple[int, int, int]:
        """Return the bundle's counters, which are those of its items."""
        read = await self.read_bundle(storage, org_id, bundle)
        ends = Counter(item.status for item in await self.items_in(storage, org_id, bundle))
        counted = (read.num_done, read.num_failed, read.num_cancelled)
        assert counted == (ends[WorkStatus.DONE], ends[WorkStatus.FAILED], ends[WorkStatus.CANCELLED])
        assert (read.status is BundleStatus.SETTLED) == (read.num_settled == read.num_items)
        assert (read.settled_at is not None) == (read.status is BundleStatus.SETTLED)
        return counted

    async def followed(self, storage: WorkStorageInterface, org_id: UUID) -> tuple[WorkItem, ...]:
        return await storage.read_items(org_id, WorkFilter(lane=FOLLOW_UP.lane), 10)

    async def claim_all(self, storage: WorkStorageInterface, lease: timedelta = LEASE) -> list[WorkItem]:
        return [row.item for row in await storage.claim_batch(LANE, KINDS, "worker-1", lease, 1000)]


class BundleCases(BundleStorageCases):
    """Bundles themselves."""

    async def test_a_bundle_and_its_items_read_back_as_written(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = a_bundle(2, on_settled=FOLLOW_UP, request_id=new_id(), traceparent="00-ab", created_by=new_id())
        items = items_of(bundle)
        await storage.create_bundle(org_id, bundle, items)
        assert await self.read_bundle(storage, org_id, bundle) == bundle
        assert {item.id for item in await self.items_in(storage, org_id, bundle)} == {item.id for item in items}

    async def test_a_bundle_that_is_there_is_reported_and_nothing_is_written(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 1)
        again = await storage.create_bundle(org_id, bundle.model_copy(update={"num_items": 3}), items_of(a_bundle(3)))
        assert again.outcome is InsertOutcome.ID_EXISTS
        assert (await self.read_bundle(storage, org_id, bundle)).num_items == 1
        assert len(await storage.read_items(org_id, WorkFilter(), 10)) == 1

    @pytest.mark.parametrize(
        "same", ["id", "idempotency_key", "unique_hash"], ids=["its id", "its key", "what it is unique for"]
    )
    async def test_nothing_of_a_bundle_is_written_when_one_item_is_there(
        self, storage: WorkStorageInterface, org_id: UUID, same: str
    ) -> None:
        there = await self.put(storage, org_id, idempotency_key="key", unique_for=(), unique_hash=UUID(int=7))
        bundle = a_bundle(2)
        items = items_of(bundle)
        items[1] = items[1].model_copy(update={same: getattr(there, same)})
        created = await storage.create_bundle(org_id, bundle, items)
        assert created.outcome is InsertOutcome.KEY_EXISTS
        assert [each.outcome is InsertOutcome.INSERTED for each in created.taken] == [True, False]
        assert created.taken[1].item_id == there.id
        assert await storage.read_bundle(org_id, bundle.id) is None
        assert [item.id for item in await storage.read_items(org_id, WorkFilter(), 10)] == [there.id]

    async def test_nothing_of_a_bundle_is_written_when_a_payload_cannot_be_stored(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = a_bundle(2)
        bad = [items_of(bundle)[0], a_work_item(bundle_id=bundle.id, payload=payload(note="\x00"))]
        with pytest.raises(ValidationFailed):
            await storage.create_bundle(org_id, bundle, bad)
        assert await storage.read_items(org_id, WorkFilter(), 10) == ()

    async def test_racing_creates_of_one_bundle_leave_one(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = a_bundle(3)
        created = await asyncio.gather(*(storage.create_bundle(org_id, bundle, items_of(bundle)) for _ in range(5)))
        assert Counter(each.outcome for each in created) == {InsertOutcome.INSERTED: 1, InsertOutcome.ID_EXISTS: 4}
        assert len(await self.items_in(storage, org_id, bundle)) == 3

    async def test_pages_of_bundles_go_down_by_id_and_filters_narrow(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundles = [await self.put_bundle(storage, org_id, 1) for _ in range(3)]
        odd = a_bundle(1, kind="odd", origin="somebody")
        await storage.create_bundle(org_id, odd, items_of(odd, lane="other"))
        await storage.write_item(org_id, rules.done((await claim_one(storage, lane="other")).item, None))
        ids = [each.id for each in await storage.read_bundles(org_id, BundleFilter(), 2)]
        rest = [each.id for each in await storage.read_bundles(org_id, BundleFilter(), 9, ids[-1])]
        assert [*ids, *rest] == sorted((each.id for each in (*bundles, odd)), reverse=True)
        filters: list[dict[str, Any]] = [{"kind": "odd"}, {"origin": "somebody"}, {"status": BundleStatus.SETTLED}]
        for where in filters:
            assert [each.id for each in await storage.read_bundles(org_id, BundleFilter(**where), 9)] == [odd.id]

    async def test_a_bundle_is_removed_with_its_items_unless_one_is_claimed(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 3, follow=True)
        apart = await self.put(storage, org_id, lane="other")
        held = (await claim_one(storage)).item
        assert not await storage.delete_bundle(org_id, bundle.id)
        assert len(await self.items_in(storage, org_id, bundle)) == 3
        await storage.write_item(org_id, rules.done(held, None))
        assert await storage.delete_bundle(org_id, bundle.id)
        assert not await storage.delete_bundle(org_id, bundle.id)
        assert [item.id for item in await storage.read_items(org_id, WorkFilter(), 9)] == [apart.id]

    async def test_a_removal_races_claims_and_keeps_all_or_nothing(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        for _ in range(5):
            bundle = await self.put_bundle(storage, org_id, 4)
            claimed, is_gone = await asyncio.gather(
                storage.claim_batch(LANE, KINDS, "worker-1", LEASE, 2), storage.delete_bundle(org_id, bundle.id)
            )
            left = await self.items_in(storage, org_id, bundle)
            assert (len(left), len(claimed)) in ({(0, 0)} if is_gone else {(4, 2)})
            for row in claimed:
                await storage.write_item(org_id, rules.done(row.item, None))
            await storage.delete_bundle(org_id, bundle.id)

    async def test_an_item_ends_when_its_bundle_is_gone(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        item = await self.put(storage, org_id, bundle_id=new_id())
        settled = await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        assert (settled.status, settled.settled_bundle_id) == (WorkStatus.DONE, None)
        assert await storage.retry_item(org_id, item.id) is not None

    async def test_a_purge_takes_settled_bundles_after_their_items(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        await self.put_bundle(storage, org_id, 1, lane="other")
        bundle = await self.put_bundle(storage, org_id, 1)
        await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        assert await storage.purge_bundles(org_id, timedelta(0), 10) == 0
        await storage.purge_items(org_id, timedelta(0), 10)
        assert await storage.purge_bundles(org_id, timedelta(hours=1), 10) == 0
        assert await storage.purge_bundles(org_id, timedelta(0), 10) == 1
        assert await storage.read_bundle(org_id, bundle.id) is None
        assert len(await storage.read_bundles(org_id, BundleFilter(), 9)) == 1

    async def test_a_tenant_is_found_by_its_bundles_alone(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        await self.put_bundle(storage, org_id, 1)
        await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        await storage.purge_items(org_id, timedelta(0), 10)
        await self.put(storage, other_org)
        first, second = sorted([org_id, other_org])
        assert await storage.read_orgs(10) == (first, second)
        assert await storage.read_orgs(10, first) == (second,)


class OtherTenantBundleCases(BundleStorageCases):
    """Each method presents another tenant's identifier; it finds nothing and changes nothing."""

    async def test_bundles_are_not_found(self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 1)
        assert await storage.read_bundle(other_org, bundle.id) is None
        assert await storage.read_bundles(other_org, BundleFilter(), 10) == ()
        assert await self.items_in(storage, other_org, bundle) == ()

    async def test_bundles_are_not_removed(self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 1)
        before = await self.read_bundle(storage, org_id, bundle)
        assert not await storage.delete_bundle(other_org, bundle.id)
        item = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.done(item, None))
        await storage.purge_items(org_id, timedelta(0), 10)
        assert await storage.purge_bundles(other_org, timedelta(0), 10) == 0
        assert (await self.read_bundle(storage, org_id, bundle)).id == before.id

    async def test_a_bundle_of_the_same_id_counts_for_itself(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 2)
        twins = [item.model_copy(update={"lane": "other"}) for item in items_of(bundle)]
        created = await storage.create_bundle(other_org, bundle, twins)
        assert created.outcome is InsertOutcome.INSERTED
        await storage.write_item(other_org, rules.done((await claim_one(storage, lane="other")).item, None))
        await storage.cancel_item(other_org, twins[1].id)
        assert await self.counts(storage, org_id, bundle) == (0, 0, 0)

    async def test_operators_of_many_change_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 1)
        item = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.refused(item, "never"))
        assert await storage.retry_items(other_org, WorkFilter(), 10) == ()
        assert await storage.delete_items(other_org, WorkFilter(), 10) == 0
        (kept,) = await self.items_in(storage, org_id, bundle)
        assert kept.status in SETTLED_STATUSES
