"""One tenant's bundles over memory; the table counts for them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import override
from uuid import UUID

from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage import WorkBundleStorageInterface
from headrace.om.work.storage.impl.item_columns import payload_json
from headrace.om.work.storage.impl.memory_items import WorkMemoryPart
from headrace.om.work.storage.impl.memory_table import newest_first, owned
from headrace.om.work.types.bundle import BundleFilter, WorkBundle
from headrace.om.work.types.queries import CreatedBundle, CreatedItem
from headrace.om.work.types.work_item import WorkItem, WorkStatus


class WorkBundlesMemory(WorkMemoryPart, WorkBundleStorageInterface):
    """Every method is one critical section, as a statement is."""

    @override
    async def create_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> CreatedBundle:
        for item in items:
            payload_json(item)
        async with self._lock:
            if (org_id, bundle.id) in self._table.bundles:
                return CreatedBundle(outcome=InsertOutcome.ID_EXISTS)
            free = [CreatedItem(outcome=InsertOutcome.INSERTED, item_id=item.id) for item in items]
            taken = [self._table.taken(org_id, item) for item in items]
            if any(taken):
                reports = tuple(there or its_own for there, its_own in zip(taken, free, strict=True))
                return CreatedBundle(outcome=InsertOutcome.KEY_EXISTS, taken=reports)
            for item in items:
                self._table.insert(org_id, item)
            self._table.bundles[org_id, bundle.id] = bundle
            return CreatedBundle(outcome=InsertOutcome.INSERTED)

    @override
    async def read_bundle(self, org_id: UUID, bundle_id: UUID) -> WorkBundle | None:
        return self._table.bundles.get((org_id, bundle_id))

    @override
    async def read_bundles(
        self, org_id: UUID, where: BundleFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkBundle, ...]:
        matching = (bundle for bundle in owned(self._table.bundles, org_id) if _matches(bundle, where))
        return tuple(newest_first(matching, after)[:limit])

    @override
    async def delete_bundle(self, org_id: UUID, bundle_id: UUID) -> bool:
        async with self._lock:
            items = self._items_of(org_id, bundle_id)
            if (org_id, bundle_id) not in self._table.bundles or any(i.status is WorkStatus.CLAIMED for i in items):
                return False
            # The bundle first: what is removed with it counts nowhere and is followed by nothing.
            del self._table.bundles[org_id, bundle_id]
            for item in items:
                self._table.remove(org_id, item)
            return True

    @override
    async def purge_bundles(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        async with self._lock:
            before = self._clock() - older_than
            full = {item.bundle_id for item in self._table.of(org_id)}
            old = sorted(
                (settled_at, bundle.id)
                for bundle in owned(self._table.bundles, org_id)
                if (settled_at := bundle.settled_at) is not None and settled_at < before and bundle.id not in full
            )
            for _, bundle_id in (gone := old[:limit]):
                del self._table.bundles[org_id, bundle_id]
            return len(gone)

    def _items_of(self, org_id: UUID, bundle_id: UUID) -> list[WorkItem]:
        return [item for item in self._table.of(org_id) if item.bundle_id == bundle_id]


def _matches(bundle: WorkBundle, where: BundleFilter) -> bool:
    return (
        where.status in {None, bundle.status}
        and where.kind in {None, bundle.kind}
        and where.origin in {None, bundle.origin}
    )
