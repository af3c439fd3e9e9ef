"""The queue over a table in memory and a lock: the tests' fake, under the same contract as PostgreSQL."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, override
from uuid import UUID, uuid4

from headrace.om.base import EMPTY_UUID, FrozenMapping
from headrace.om.storage.clock import Clock, wall_clock
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.rows import payload_json
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow, CreatedItem, WorkCount, WorkFilter, WorkGauges, WorkStatusReport
from headrace.om.work.types.settlement import Outcome, Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus

UNSETTLED = frozenset({WorkStatus.QUEUED, WorkStatus.CLAIMED})


class WorkStorageMemoryImpl(WorkStorageInterface):
    """Holds rows by tenant and id; every method is one critical section, as a statement is."""

    def __init__(self, clock: Clock = wall_clock) -> None:
        self._clock = clock
        self._rows: dict[tuple[UUID, UUID], WorkItem] = {}
        self._keys: dict[tuple[UUID, str], UUID] = {}
        self._lock = asyncio.Lock()

    @override
    async def create_item(self, org_id: UUID, item: WorkItem) -> InsertOutcome:
        return (await self.create_items(org_id, (item,)))[0].outcome

    @override
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        payloads = [payload_json(item) for item in items]
        async with self._lock:
            return tuple(self._insert(org_id, item, text) for item, text in zip(items, payloads, strict=True))

    @override
    async def read_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return self._rows.get((org_id, item_id))

    @override
    async def read_item_by_key(self, org_id: UUID, idempotency_key: str) -> WorkItem | None:
        item_id = self._keys.get((org_id, idempotency_key))
        return None if item_id is None else self._rows.get((org_id, item_id))

    @override
    async def read_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        matching = (item for item in self._of(org_id) if (after is None or item.id < after) and _matches(item, where))
        return tuple(sorted(matching, key=lambda item: item.id, reverse=True)[:limit])

    @override
    async def read_status(self, org_id: UUID) -> WorkStatusReport:
        items = list(self._of(org_id))
        counts = Counter((item.status, item.kind, item.lane) for item in items)
        return WorkStatusReport(
            counts=tuple(
                WorkCount(status=status, kind=kind, lane=lane, num_items=count)
                for (status, kind, lane), count in sorted(counts.items())
            ),
            oldest_waiting=self._oldest_waiting(items),
        )

    @override
    async def cancel_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        async with self._lock:
            item = self._rows.get((org_id, item_id))
            if item is None or item.status not in UNSETTLED:
                return None
            asked: dict[str, Any] = {"cancel_requested_at": item.cancel_requested_at or self._clock()}
            if item.status is WorkStatus.QUEUED:
                asked |= {"status": WorkStatus.CANCELLED, "settled_at": self._clock()}
            return self._write(org_id, item, **asked)

    @override
    async def retry_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        async with self._lock:
            item = self._rows.get((org_id, item_id))
            if item is None or item.status not in SETTLED_STATUSES:
                return None
            return self._write(org_id, item, available_at=self._clock(), **rules.AS_NEW)

    @override
    async def delete_item(self, org_id: UUID, item_id: UUID) -> bool:
        async with self._lock:
            item = self._rows.get((org_id, item_id))
            if item is None or item.status is WorkStatus.CLAIMED:
                return False
            self._remove(org_id, item)
            return True

    @override
    async def claim_next(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> ClaimedRow | None:
        claimed = await self.claim_batch(lane, kinds, worker_id, lease, 1)
        return claimed[0] if claimed else None

    @override
    async def claim_batch(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int
    ) -> tuple[ClaimedRow, ...]:
        async with self._lock:
            picked = self._due_in_order(lane, frozenset(kinds))[:limit]
            claimed = [(org_id, self._claim(org_id, item, worker_id, lease)) for org_id, item in picked]
        claimed.sort(key=lambda pair: (-pair[1].priority, pair[1].available_at, pair[1].id))
        return tuple(ClaimedRow(org_id=org_id, item=item) for org_id, item in claimed)

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
            item = self._held(org_id, renewal.item_id, renewal.claim_token)
            if item is None:
                return False
            self._write(org_id, item, progress=progress, progress_note=note)
            return True

    @override
    async def requeue_stale(
        self, org_id: UUID, overdue: timedelta, limit: int, *, max_crashes: int
    ) -> tuple[WorkItem, ...]:
        async with self._lock:
            stale = [item for item in self._of(org_id) if rules.is_stale(item, self._clock(), overdue)]
            stale.sort(key=lambda item: (item.lease_expires_at, item.id))
            placed = sorted(stale[:limit], key=lambda item: item.id)
            return tuple(self._take_back(org_id, item, place, max_crashes) for place, item in enumerate(placed))

    @override
    async def read_stale_orgs(self, limit: int) -> tuple[UUID, ...]:
        now = self._clock()
        stale = (org_id for (org_id, _), item in self._rows.items() if rules.is_stale(item, now, timedelta(0)))
        return tuple(sorted(set(stale))[:limit])

    @override
    async def read_orgs(self, limit: int, after: UUID | None = None) -> tuple[UUID, ...]:
        return tuple(sorted({org_id for org_id, _ in self._rows if after is None or org_id > after})[:limit])

    @override
    async def purge_items(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        async with self._lock:
            before = self._clock() - older_than
            old = [(at, i.id, i) for i in self._of(org_id) if (at := i.settled_at) is not None and at < before]
            for _, _, item in (gone := sorted(old)[:limit]):
                self._remove(org_id, item)
            return len(gone)

    @override
    async def fail_orphaned(self, org_id: UUID, limit: int) -> int:
        async with self._lock:
            orphans = sorted((i for i in self._of(org_id) if i.status in UNSETTLED), key=lambda i: i.id)[:limit]
            for item in orphans:
                ended = {"status": WorkStatus.FAILED, "settled_at": self._clock(), "error_code": "tenant_gone"}
                self._write(org_id, item, last_error=rules.TENANT_GONE_ERROR, **ended, **_UNCLAIMED)
            return len(orphans)

    @override
    async def read_gauges(self) -> WorkGauges:
        items = list(self._rows.values())
        statuses = Counter(item.status for item in items)
        now = self._clock()
        return WorkGauges(
            num_queued=statuses[WorkStatus.QUEUED],
            num_claimed=statuses[WorkStatus.CLAIMED],
            num_failed=statuses[WorkStatus.FAILED],
            num_parked=sum(1 for i in items if i.status is WorkStatus.QUEUED and _available_at(i) > now),
            oldest_waiting=self._oldest_waiting(items),
        )

    def _of(self, org_id: UUID) -> Iterable[WorkItem]:
        return [item for (owner, _), item in self._rows.items() if owner == org_id]

    def _insert(self, org_id: UUID, item: WorkItem, payload: str) -> CreatedItem:
        if (org_id, item.id) in self._rows:
            return CreatedItem(outcome=InsertOutcome.ID_EXISTS, item_id=item.id)
        if item.idempotency_key is not None and (taken := self._keys.get((org_id, item.idempotency_key))) is not None:
            return CreatedItem(outcome=InsertOutcome.KEY_EXISTS, item_id=taken)
        # Through JSON, as the database would have it.
        stored = FrozenMapping(json.loads(payload))
        self._rows[org_id, item.id] = item.model_copy(
            update={"available_at": item.available_at or self._clock(), "payload": stored}
        )
        if item.idempotency_key is not None:
            self._keys[org_id, item.idempotency_key] = item.id
        return CreatedItem(outcome=InsertOutcome.INSERTED, item_id=item.id)

    def _write(self, org_id: UUID, item: WorkItem, **changes: Any) -> WorkItem:  # noqa: ANN401 - values of any field
        """Replace the row; every write after the enqueue is signed by the platform."""
        written = item.model_copy(update=changes | {"updated_at": self._clock(), "updated_by": EMPTY_UUID})
        self._rows[org_id, item.id] = written
        return written

    def _remove(self, org_id: UUID, item: WorkItem) -> None:
        del self._rows[org_id, item.id]
        if item.idempotency_key is not None:
            del self._keys[org_id, item.idempotency_key]

    def _extend(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        if (item := self._held(org_id, renewal.item_id, renewal.claim_token)) is None:
            return None
        held = self._write(org_id, item, lease_expires_at=self._clock() + lease)
        return Renewed(
            item_id=held.id,
            claim_token=renewal.claim_token,
            is_cancel_requested=held.cancel_requested_at is not None,
        )

    def _held(self, org_id: UUID, item_id: UUID, token: UUID) -> WorkItem | None:
        item = self._rows.get((org_id, item_id))
        return item if item is not None and item.claim_token == token else None

    def _due_in_order(self, lane: str, kinds: frozenset[WorkKind]) -> list[tuple[UUID, WorkItem]]:
        """Return due items as the claim takes them: by priority, then the kind that waits longest, then age."""
        now = self._clock()
        due = [
            (org_id, item)
            for (org_id, _), item in self._rows.items()
            if item.status is WorkStatus.QUEUED
            and item.lane == lane
            and item.kind in kinds
            and _available_at(item) <= now
        ]
        heads: dict[tuple[int, WorkKind], Any] = {}
        for _, item in due:
            level = (item.priority, item.kind)
            heads[level] = min(heads.get(level, _available_at(item)), _available_at(item))

        def place(pair: tuple[UUID, WorkItem]) -> tuple[Any, ...]:
            item = pair[1]
            head = heads[item.priority, item.kind]
            return (-item.priority, head, item.kind, item.available_at, item.id)

        return sorted(due, key=place)

    def _claim(self, org_id: UUID, item: WorkItem, worker_id: str, lease: timedelta) -> WorkItem:
        now = self._clock()
        return self._write(
            org_id,
            item,
            status=WorkStatus.CLAIMED,
            claim_token=uuid4(),
            claimed_by=worker_id,
            lease_expires_at=now + lease,
            attempts=item.attempts + 1,
            started_at=now,
            progress=None,
            progress_note=None,
        )

    def _settle(self, org_id: UUID, settlement: Settlement) -> Settled:
        item = self._held(org_id, settlement.item_id, settlement.claim_token)
        if item is None:
            return Settled(item_id=settlement.item_id, status=None)
        written = self._write(org_id, item, **_settled_fields(item, settlement, self._clock))
        return Settled(item_id=item.id, status=written.status)

    def _take_back(self, org_id: UUID, item: WorkItem, place: int, max_crashes: int) -> WorkItem:
        now = self._clock()
        status = rules.stale_status(item, max_crashes=max_crashes)
        return self._write(
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

    def _oldest_waiting(self, items: Iterable[WorkItem]) -> timedelta | None:
        now = self._clock()
        waits = (now - _available_at(item) for item in items if item.status is WorkStatus.QUEUED)
        return max((wait for wait in waits if wait >= timedelta(0)), default=None)


_UNCLAIMED: dict[str, Any] = {"claim_token": None, "lease_expires_at": None}


def _available_at(item: WorkItem) -> Any:  # noqa: ANN401 - an instant, which a stored item always has
    return item.available_at


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
        "result": None if settlement.result_json is None else json.loads(settlement.result_json),
        "claimed_by": None if queued else item.claimed_by,
        **_UNCLAIMED,
    }


def _matches(item: WorkItem, where: WorkFilter) -> bool:
    equal: tuple[Callable[[], bool], ...] = (
        lambda: where.status in {None, item.status},
        lambda: where.kind in {None, item.kind},
        lambda: where.lane in {None, item.lane},
        lambda: where.origin in {None, item.origin},
        lambda: (
            where.started_before is None or (item.started_at is not None and item.started_at < where.started_before)
        ),
        lambda: where.has_error is None or (item.last_error is not None) == where.has_error,
    )
    return all(check() for check in equal)
