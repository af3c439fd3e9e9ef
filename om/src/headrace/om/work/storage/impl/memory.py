"""The queue over a table in memory and a lock: the tests' fake, under the same contract as PostgreSQL."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, override
from uuid import UUID

from headrace.om.storage.clock import Clock
from headrace.om.work import rules
from headrace.om.work.claiming import is_live
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.memory_bundles import WorkBundlesMemory
from headrace.om.work.storage.impl.memory_claims import WorkClaimsMemory
from headrace.om.work.storage.impl.memory_items import UNSETTLED, WorkItemsMemory, available_at
from headrace.om.work.storage.impl.memory_schedules import WorkSchedulesMemory
from headrace.om.work.types.bundle import BundleStatus
from headrace.om.work.types.queries import WorkGauges
from headrace.om.work.types.settlement import Outcome, Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus


class WorkStorageMemoryImpl(
    WorkClaimsMemory, WorkItemsMemory, WorkBundlesMemory, WorkSchedulesMemory, WorkStorageInterface
):
    """Holds rows by tenant and id; every method is one critical section, as a statement is."""

    @override
    async def write_item(self, org_id: UUID, settlement: Settlement) -> Settled:
        return (await self.settle_batch([(org_id, settlement)]))[0]

    @override
    async def settle_batch(self, settlements: Sequence[tuple[UUID, Settlement]]) -> tuple[Settled, ...]:
        async with self._lock:
            return tuple(self._settle(org_id, settlement) for org_id, settlement in settlements)

    @override
    async def extend_lease(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        renewed = await self.extend_leases([(org_id, renewal)], lease)
        return renewed[0] if renewed else None

    @override
    async def extend_leases(self, renewals: Sequence[tuple[UUID, Renewal]], lease: timedelta) -> tuple[Renewed, ...]:
        async with self._lock:
            renewed = [self._extend(org_id, renewal, lease) for org_id, renewal in renewals]
        return tuple(each for each in renewed if each is not None)

    @override
    async def write_progress(self, org_id: UUID, renewal: Renewal, progress: float, note: str) -> bool:
        async with self._lock:
            item = self._table.held(org_id, renewal.item_id, renewal.claim_token)
            if item is None:
                return False
            self._table.write(org_id, item, progress=progress, progress_note=note)
            return True

    @override
    async def requeue_stale(
        self, org_id: UUID, overdue: timedelta, limit: int, *, max_crashes: int
    ) -> tuple[WorkItem, ...]:
        async with self._lock:
            stale = [item for item in self._table.of(org_id) if rules.is_stale(item, self._clock(), overdue)]
            stale.sort(key=lambda item: (item.lease_expires_at, item.id))
            placed = sorted(stale[:limit], key=lambda item: item.id)
            return tuple(self._take_back(org_id, item, place, max_crashes) for place, item in enumerate(placed))

    @override
    async def read_stale_orgs(self, limit: int) -> tuple[UUID, ...]:
        now = self._clock()
        stale = (org_id for (org_id, _), item in self._table.rows.items() if rules.is_stale(item, now, timedelta(0)))
        return tuple(sorted(set(stale))[:limit])

    @override
    async def read_orgs(self, limit: int, after: UUID | None = None) -> tuple[UUID, ...]:
        orgs = {
            org_id for table in (self._table.rows, self._table.bundles, self._table.schedules) for org_id, _ in table
        }
        return tuple(sorted(org_id for org_id in orgs if after is None or org_id > after)[:limit])

    @override
    async def purge_items(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        async with self._lock:
            before = self._clock() - older_than
            old = [(at, i.id, i) for i in self._table.of(org_id) if (at := i.settled_at) is not None and at < before]
            for _, _, item in (gone := sorted(old)[:limit]):
                self._table.remove(org_id, item)
            return len(gone)

    @override
    async def fail_orphaned(self, org_id: UUID, limit: int) -> int:
        async with self._lock:
            orphans = sorted((i for i in self._table.of(org_id) if i.status in UNSETTLED), key=lambda i: i.id)[:limit]
            for item in orphans:
                ended = {"status": WorkStatus.FAILED, "settled_at": self._clock(), "error_code": "tenant_gone"}
                self._table.write(org_id, item, last_error=rules.TENANT_GONE_ERROR, **ended, **_UNCLAIMED)
            return len(orphans)

    @override
    async def read_gauges(self) -> WorkGauges:
        items = list(self._table.rows.values())
        statuses = Counter(item.status for item in items)
        now = self._clock()
        return WorkGauges(
            num_queued=statuses[WorkStatus.QUEUED],
            num_claimed=statuses[WorkStatus.CLAIMED],
            num_failed=statuses[WorkStatus.FAILED],
            num_parked=sum(1 for i in items if i.status is WorkStatus.QUEUED and available_at(i) > now),
            oldest_waiting=self._oldest_waiting(items),
        )

    def _extend(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        item = self._table.held(org_id, renewal.item_id, renewal.claim_token)
        if item is None or (item.concurrency_key is not None and not is_live(item, self._clock())):
            return None
        held = self._table.write(org_id, item, lease_expires_at=self._clock() + lease)
        return Renewed(
            item_id=held.id,
            claim_token=renewal.claim_token,
            is_cancel_requested=held.cancel_requested_at is not None,
        )

    def _settle(self, org_id: UUID, settlement: Settlement) -> Settled:
        item = self._table.held(org_id, settlement.item_id, settlement.claim_token)
        if item is None:
            return self._settled_before(org_id, settlement)
        written = self._table.write(org_id, item, **_settled_fields(item, settlement, self._clock))
        self._table.settlements[org_id, item.id] = settlement.settlement_id
        for follow_up in settlement.then:
            self._table.insert(org_id, follow_up)
        bundle = None if item.bundle_id is None else self._table.bundles.get((org_id, item.bundle_id))
        is_last = bundle is not None and bundle.status is BundleStatus.SETTLED
        return Settled(item_id=item.id, status=written.status, settled_bundle_id=item.bundle_id if is_last else None)

    def _settled_before(self, org_id: UUID, settlement: Settlement) -> Settled:
        """Return the report of a settlement that was written before, or that the token holds nothing."""
        item = self._table.rows.get((org_id, settlement.item_id))
        if item is None or self._table.settlements.get((org_id, item.id)) != settlement.settlement_id:
            return Settled(item_id=settlement.item_id, status=None)
        return rules.settled_before(settlement, item.status)

    def _take_back(self, org_id: UUID, item: WorkItem, place: int, max_crashes: int) -> WorkItem:
        now = self._clock()
        status = rules.stale_status(item, max_crashes=max_crashes)
        return self._table.write(
            org_id,
            item,
            status=status,
            settled_at=now if status in SETTLED_STATUSES else None,
            available_at=now + rules.requeue_stagger(place),
            crashes=item.crashes + 1,
            last_error=rules.LEASE_PASSED_ERROR,
            error_code="lease_passed",
            **_UNCLAIMED,
        )


_UNCLAIMED: dict[str, Any] = {"claim_token": None, "lease_expires_at": None}


def _settled_fields(item: WorkItem, settlement: Settlement, clock: Clock) -> dict[str, Any]:
    now, status = clock(), settlement.outcome.status
    if queued := status is WorkStatus.QUEUED:
        status = WorkStatus.CANCELLED if item.cancel_requested_at is not None else status
    is_done = settlement.outcome is Outcome.DONE
    return {
        "status": status,
        "settled_at": now if status in SETTLED_STATUSES else None,
        "available_at": (settlement.until or now + settlement.delay) if queued else item.available_at,
        "attempts": item.attempts - int(settlement.outcome.refunds_attempt),
        "crashes": 0 if is_done else item.crashes,
        "last_error": None if is_done else settlement.last_error or item.last_error,
        "error_code": None if is_done else settlement.error_code or item.error_code,
        "result": settlement.result,
        "claimed_by": None if queued else item.claimed_by,
        **_UNCLAIMED,
    }
