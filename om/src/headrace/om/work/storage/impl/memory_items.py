"""One tenant's items over memory: creating, looking, operating."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, override
from uuid import UUID

from headrace.om.storage.clock import Clock, wall_clock
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.storage import WorkItemStorageInterface
from headrace.om.work.storage.impl.item_columns import payload_json
from headrace.om.work.storage.impl.memory_table import WorkTable, newest_first, owned
from headrace.om.work.types.bundle import BundleStatus
from headrace.om.work.types.queries import CreatedItem, RetriedItem, WorkCount, WorkFilter, WorkStatusReport
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus

UNSETTLED = frozenset({WorkStatus.QUEUED, WorkStatus.CLAIMED})


class WorkMemoryPart:
    """What the parts of the queue over memory share: one table, one lock, one clock."""

    def __init__(self, clock: Clock = wall_clock) -> None:
        self._clock = clock
        self._table = WorkTable(clock)
        self._lock = asyncio.Lock()

    def _oldest_waiting(self, items: Iterable[WorkItem]) -> timedelta | None:
        now = self._clock()
        waits = (now - available_at(item) for item in items if item.status is WorkStatus.QUEUED)
        return max((wait for wait in waits if wait >= timedelta(0)), default=None)


class WorkItemsMemory(WorkMemoryPart, WorkItemStorageInterface):
    """Every method is one critical section, as a statement is."""

    @override
    async def create_item(self, org_id: UUID, item: WorkItem) -> InsertOutcome:
        return (await self.create_items(org_id, (item,)))[0].outcome

    @override
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        for item in items:
            payload_json(item)
        async with self._lock:
            now = self._clock()
            dated = (item if item.available_at else item.model_copy(update={"available_at": now}) for item in items)
            return tuple(self._table.insert(org_id, item) for item in dated)

    @override
    async def read_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return self._table.rows.get((org_id, item_id))

    @override
    async def read_item_by_key(self, org_id: UUID, idempotency_key: str) -> WorkItem | None:
        return self._table.by_key(org_id, idempotency_key)

    @override
    async def read_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        return tuple(self._page(org_id, where, after)[:limit])

    @override
    async def read_status(self, org_id: UUID) -> WorkStatusReport:
        items = self._table.of(org_id)
        counts = Counter((item.status, item.kind, item.lane) for item in items)
        bundles = Counter(bundle.status for bundle in owned(self._table.bundles, org_id))
        return WorkStatusReport(
            counts=tuple(
                WorkCount(status=status, kind=kind, lane=lane, num_items=count)
                for (status, kind, lane), count in sorted(counts.items())
            ),
            oldest_waiting=self._oldest_waiting(items),
            num_open_bundles=bundles[BundleStatus.OPEN],
            num_settled_bundles=bundles[BundleStatus.SETTLED],
        )

    @override
    async def cancel_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        async with self._lock:
            item = self._table.rows.get((org_id, item_id))
            return None if item is None or item.status not in UNSETTLED else self._cancel(org_id, item)

    @override
    async def cancel_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        async with self._lock:
            page = [item for item in self._page(org_id, where, after) if item.status in UNSETTLED]
            return tuple(self._cancel(org_id, item) for item in page[:limit])

    @override
    async def retry_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        async with self._lock:
            item = self._table.rows.get((org_id, item_id))
            return None if item is None or item.status not in SETTLED_STATUSES else self._retry(org_id, item)

    @override
    async def retry_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[RetriedItem, ...]:
        async with self._lock:
            page = [item for item in self._page(org_id, where, after) if item.status in SETTLED_STATUSES][:limit]
            # Oldest first, so that of two that agree the older one is queued.
            queued = {item.id for item in reversed(page) if self._retry(org_id, item) is not None}
            return tuple(RetriedItem(item_id=item.id, lane=item.lane, is_queued=item.id in queued) for item in page)

    @override
    async def delete_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        async with self._lock:
            item = self._table.rows.get((org_id, item_id))
            if item is None or item.status is WorkStatus.CLAIMED:
                return None
            self._table.remove(org_id, item)
            return item

    @override
    async def delete_items(self, org_id: UUID, where: WorkFilter, limit: int) -> int:
        async with self._lock:
            settled = [item for item in self._page(org_id, where) if item.status in SETTLED_STATUSES]
            for item in (gone := settled[::-1][:limit]):
                self._table.remove(org_id, item)
            return len(gone)

    def _page(self, org_id: UUID, where: WorkFilter, after: UUID | None = None) -> list[WorkItem]:
        return newest_first((item for item in self._table.of(org_id) if matches(item, where)), after)

    def _cancel(self, org_id: UUID, item: WorkItem) -> WorkItem:
        """End a queued item, or flag a claimed one."""
        asked: dict[str, Any] = {"cancel_requested_at": item.cancel_requested_at or self._clock()}
        if item.status is WorkStatus.QUEUED:
            asked |= {"status": WorkStatus.CANCELLED, "settled_at": self._clock()}
        return self._table.write(org_id, item, **asked)

    def _retry(self, org_id: UUID, item: WorkItem) -> WorkItem | None:
        """Queue a settled item again, unless one that has not settled agrees with it."""
        if self._table.agreeing(org_id, item) is not None:
            return None
        return self._table.write(org_id, item, available_at=self._clock(), **rules.AS_NEW)


def available_at(item: WorkItem) -> Any:  # noqa: ANN401 - an instant, which a stored item always has
    """Return from when on a stored item may be claimed."""
    return item.available_at


def matches(item: WorkItem, where: WorkFilter) -> bool:
    """Return whether an item is one that the filter asks for."""
    checks: tuple[Callable[[], bool], ...] = (
        lambda: where.status in {None, item.status},
        lambda: where.kind in {None, item.kind},
        lambda: where.lane in {None, item.lane},
        lambda: where.origin in {None, item.origin},
        lambda: where.bundle_id in {None, item.bundle_id},
        lambda: (
            where.started_before is None or (item.started_at is not None and item.started_at < where.started_before)
        ),
        lambda: where.has_error is None or (item.last_error is not None) == where.has_error,
    )
    return all(check() for check in checks)
