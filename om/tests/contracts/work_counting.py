"""How items count in their bundles, whatever ends them: cases of the work storage's contract."""

import asyncio
from collections import Counter
from datetime import timedelta
from uuid import UUID

from headrace.om.base import EMPTY_UUID
from headrace.om.work import bundling, rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.bundle import BundleStatus
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_bundles import BundleStorageCases
from om.tests.contracts.work_items import (
    LEASE,
    MAX_CRASHES,
    NO_LEASE,
    claim_one,
)


class CountingCases(BundleStorageCases):
    """Each end counts once, in the transaction of the end."""

    async def test_each_end_counts_once_and_the_last_one_settles(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 4, max_attempts=1)
        first, second, third, fourth = await self.claim_all(storage)
        await storage.cancel_item(org_id, third.id)
        reports = await storage.settle_batch(
            [
                (org_id, rules.done(first, None)),
                (org_id, rules.failed(second, "boom")),
                (org_id, rules.released(third)),
                (org_id, rules.released(fourth)),
            ]
        )
        assert {report.settled_bundle_id for report in reports} == {None}
        assert await self.counts(storage, org_id, bundle) == (1, 1, 1)
        last = await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        assert last.settled_bundle_id == bundle.id
        assert await self.counts(storage, org_id, bundle) == (2, 1, 1)
        read = await self.read_bundle(storage, org_id, bundle)
        assert (read.status, read.updated_by) == (BundleStatus.SETTLED, EMPTY_UUID)

    async def test_an_attempt_that_is_not_the_last_counts_nothing(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 1, max_attempts=2)
        (item,) = await self.claim_all(storage)
        await storage.write_item(org_id, rules.failed(item, "boom", after=timedelta(0)))
        assert await storage.retry_item(org_id, item.id) is None
        assert await self.counts(storage, org_id, bundle) == (0, 0, 0)
        await storage.write_item(org_id, rules.failed((await claim_one(storage)).item, "boom"))
        assert await self.counts(storage, org_id, bundle) == (0, 1, 0)

    async def test_an_end_whose_texts_cannot_be_stored_counts_too(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 2, max_attempts=1)
        first, second = await self.claim_all(storage)
        ends = (rules.failed(first, ValueError("\x00\udcff")), rules.done(second, {"\x00": "\ud83d"}))
        for end in ends:
            assert (await storage.write_item(org_id, end)).is_recorded
        assert await self.counts(storage, org_id, bundle) == (1, 1, 0)

    async def test_a_settled_bundle_is_followed_by_its_item(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 2, follow=True)
        ends = [rules.done(item, None) for item in await self.claim_all(storage)]
        await storage.write_item(org_id, ends[0])
        assert await self.followed(storage, org_id) == ()
        await storage.write_item(org_id, ends[1])
        (follow_up,) = await self.followed(storage, org_id)
        expected = bundling.follow_up_of(await self.read_bundle(storage, org_id, bundle))
        assert expected is not None
        assert follow_up.available_at is not None
        times = {"available_at", "created_at", "updated_at"}
        assert follow_up.model_dump(exclude=times) == expected.model_dump(exclude=times)
        assert (await claim_one(storage, lane="after")).item.id == bundle.follow_up_id

    async def test_a_bundle_is_followed_once_when_it_settles_twice(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 2, follow=True)
        for item in await self.claim_all(storage):
            await storage.write_item(org_id, rules.refused(item, "never"))
        await storage.retry_item(org_id, (await self.items_in(storage, org_id, bundle))[0].id)
        assert (await self.read_bundle(storage, org_id, bundle)).status is BundleStatus.OPEN
        await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        assert await self.counts(storage, org_id, bundle) == (1, 1, 0)
        assert len(await self.followed(storage, org_id)) == 1

    async def test_a_retry_of_many_uncounts_each(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 3)
        for item in await self.claim_all(storage):
            await storage.write_item(org_id, rules.refused(item, "never"))
        retried = await storage.retry_items(org_id, WorkFilter(bundle_id=bundle.id), 2)
        assert [each.is_queued for each in retried] == [True, True]
        assert await self.counts(storage, org_id, bundle) == (0, 1, 0)

    async def test_deaths_in_the_sweep_count(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 3, follow=True)
        held = await self.claim_all(storage, NO_LEASE)
        await storage.cancel_item(org_id, held[0].id)
        swept = await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=1)
        assert Counter(item.status for item in swept) == {WorkStatus.CANCELLED: 1, WorkStatus.FAILED: 2}
        assert await self.counts(storage, org_id, bundle) == (0, 2, 1)
        assert len(await self.followed(storage, org_id)) == 1

    async def test_a_sweep_that_queues_again_counts_nothing(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 2)
        await self.claim_all(storage, NO_LEASE)
        await storage.requeue_stale(org_id, timedelta(0), 10, max_crashes=MAX_CRASHES)
        assert await self.counts(storage, org_id, bundle) == (0, 0, 0)

    async def test_a_cancel_counts_when_it_ends_the_item(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 2)
        claimed = (await claim_one(storage)).item
        for item in await self.items_in(storage, org_id, bundle):
            await storage.cancel_item(org_id, item.id)
            await storage.cancel_item(org_id, item.id)
        assert await self.counts(storage, org_id, bundle) == (0, 0, 1)
        await storage.write_item(org_id, rules.cancelled(claimed))
        assert await self.counts(storage, org_id, bundle) == (0, 0, 2)

    async def test_a_cancel_of_many_counts_those_that_it_ends(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 3)
        held = (await claim_one(storage)).item
        await storage.cancel_items(org_id, WorkFilter(bundle_id=bundle.id), 10)
        assert await self.counts(storage, org_id, bundle) == (0, 0, 2)
        await storage.write_item(org_id, rules.cancelled(held))
        assert await self.counts(storage, org_id, bundle) == (0, 0, 3)

    async def test_a_status_report_counts_bundles(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        for size in (1, 2):
            await self.put_bundle(storage, org_id, size)
        await storage.write_item(org_id, rules.done((await claim_one(storage)).item, None))
        report = await storage.read_status(org_id)
        assert (report.num_open_bundles, report.num_settled_bundles) == (1, 1)

    async def test_a_removed_item_counts_as_cancelled_unless_it_had_settled(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 2, follow=True)
        done = (await claim_one(storage)).item
        await storage.write_item(org_id, rules.done(done, None))
        for item in await self.items_in(storage, org_id, bundle):
            assert await storage.delete_item(org_id, item.id) is not None
        read = await self.read_bundle(storage, org_id, bundle)
        assert (read.num_done, read.num_cancelled, read.status) == (1, 1, BundleStatus.SETTLED)
        assert len(await self.followed(storage, org_id)) == 1

    async def test_purged_items_stay_counted(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 2)
        first, second = await self.claim_all(storage)
        await storage.write_item(org_id, rules.done(first, None))
        assert await storage.purge_items(org_id, timedelta(0), 10) == 1
        await storage.write_item(org_id, rules.done(second, None))
        assert await storage.delete_items(org_id, WorkFilter(), 10) == 1
        assert (await self.read_bundle(storage, org_id, bundle)).num_done == 2

    async def test_orphans_count_too(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 2)
        await claim_one(storage)
        assert await storage.fail_orphaned(org_id, 10) == 2
        assert await self.counts(storage, org_id, bundle) == (0, 2, 0)

    async def test_a_settlement_that_comes_again_counts_once_and_names_the_bundle_again(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 1, follow=True)
        end = rules.done((await claim_one(storage)).item, None)
        first, second = await storage.write_item(org_id, end), await storage.write_item(org_id, end)
        assert first == second
        assert first.settled_bundle_id == bundle.id
        assert await self.counts(storage, org_id, bundle) == (1, 0, 0)

    async def test_an_item_of_a_bundle_is_not_settled_uncounted(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        bundle = await self.put_bundle(storage, org_id, 1)
        end = rules.done((await claim_one(storage)).item, None)
        await storage.write_item(org_id, end.model_copy(update={"bundle_id": None}))
        await self.counts(storage, org_id, bundle)

    async def test_racing_ends_of_many_workers_lose_no_count(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundles = [await self.put_bundle(storage, org_id, 30, follow=True) for _ in range(3)]
        held = await self.claim_all(storage)
        ends = [(org_id, rules.done(item, None)) for item in sorted(held, key=lambda item: item.id.int % 97)]
        batches = [ends[start::6] for start in range(6)]
        reports = await asyncio.gather(*(storage.settle_batch(batch) for batch in batches))
        assert all(report.is_recorded for batch in reports for report in batch)
        told = {report.settled_bundle_id for batch in reports for report in batch} - {None}
        assert told == {bundle.id for bundle in bundles}
        for bundle in bundles:
            assert await self.counts(storage, org_id, bundle) == (30, 0, 0)
        assert len(await self.followed(storage, org_id)) == 3

    async def test_whatever_races_no_counter_drifts(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        bundle = await self.put_bundle(storage, org_id, 24, follow=True, max_attempts=2)
        other = await self.put_bundle(storage, org_id, 24, max_attempts=2)
        for turn in range(4):
            held = await self.claim_all(storage, NO_LEASE if turn % 2 else LEASE)
            ids = [item.id for each in (bundle, other) for item in await self.items_in(storage, org_id, each)]
            ends = [
                (org_id, rules.done(item, 1) if place % 3 else rules.failed(item, "boom", after=timedelta(0)))
                for place, item in enumerate(held[::2])
            ]
            await asyncio.gather(
                storage.settle_batch(ends),
                storage.settle_batch(ends[::-1]),
                storage.requeue_stale(org_id, timedelta(0), 100, max_crashes=2),
                *(storage.cancel_item(org_id, each) for each in ids[turn::7]),
                *(storage.retry_item(org_id, each) for each in ids[turn::5]),
                storage.retry_items(org_id, WorkFilter(status=WorkStatus.FAILED), 3),
            )
            await self.counts(storage, org_id, bundle)
            await self.counts(storage, org_id, other)
