"""Outbox rows over a table in this process."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import override
from uuid import UUID

from headrace.om.encoding import storable_text
from headrace.om.outbox.rules import MAX_ERROR_BYTES, RelayBackoff, encoded_payload, relay_delay
from headrace.om.outbox.storage import MAX_COUNTED, OutboxStorageInterface
from headrace.om.outbox.types.outbox_row import OutboxRow, TakenRow
from headrace.om.outbox.types.relay_report import OutboxGauges
from headrace.om.storage.clock import Clock, wall_clock
from headrace.om.storage.outcomes import InsertOutcome


@dataclass(slots=True)
class _Record:
    org_id: UUID
    row: TakenRow
    recorded_at: datetime
    available_at: datetime
    num_failures: int = 0
    last_error: str | None = None
    done_at: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        return self.done_at is None and self.available_at <= now


class OutboxStorageMemoryImpl(OutboxStorageInterface):
    """One dict; no method waits anywhere, so each is atomic among the tasks of a loop."""

    def __init__(self, clock: Clock = wall_clock) -> None:
        self._clock = clock
        self._records: dict[tuple[UUID, UUID], _Record] = {}

    def add(self, org_id: UUID, rows: Sequence[TakenRow]) -> None:
        """Insert rows beside a core write of another memory implementation; those that are there stay as they are.

        An unreadable row stands for one that another program landed.

        Raises:
            ValidationFailed: A row cannot be stored; no row was inserted.
        """
        for row in rows:
            if isinstance(row, OutboxRow):
                encoded_payload(row)
        now = self._clock()
        for row in rows:
            self._records.setdefault((org_id, row.id), _Record(org_id, row, now, now))

    @override
    async def create_row(self, org_id: UUID, row: OutboxRow) -> InsertOutcome:
        if (org_id, row.id) in self._records:
            return InsertOutcome.ID_EXISTS
        self.add(org_id, [row])
        return InsertOutcome.INSERTED

    @override
    async def take_pending(self, limit: int, hold: timedelta) -> tuple[tuple[UUID, TakenRow], ...]:
        taken = self._hold(_shared_out(self._due(self._records.values()), limit), hold)
        return tuple((record.org_id, record.row) for record in taken)

    @override
    async def take_rows(self, org_id: UUID, row_ids: Sequence[UUID], hold: timedelta) -> tuple[TakenRow, ...]:
        due = self._due(self._named(org_id, row_ids))
        return tuple(record.row for record in self._hold(due, hold))

    @override
    async def mark_done(self, org_id: UUID, row_ids: Sequence[UUID]) -> int:
        pending = [record for record in self._named(org_id, row_ids) if record.done_at is None]
        for record in pending:
            record.done_at = self._clock()
        return len(pending)

    @override
    async def mark_failed(self, org_id: UUID, row_id: UUID, error: str, backoff: RelayBackoff) -> bool:
        record = self._records.get((org_id, row_id))
        if record is None or record.done_at is not None:
            return False
        record.num_failures += 1
        record.last_error = storable_text(error, limit_bytes=MAX_ERROR_BYTES)
        record.available_at = self._clock() + relay_delay(backoff, record.num_failures)
        return True

    @override
    async def purge_done(self, older_than: timedelta, limit: int) -> int:
        before = self._clock() - older_than
        done = [(record.done_at, key) for key, record in self._records.items() if record.done_at is not None]
        gone = sorted(each for each in done if each[0] < before)[:limit]
        for _, key in gone:
            del self._records[key]
        return len(gone)

    @override
    async def read_gauges(self) -> OutboxGauges:
        pending = [record.recorded_at for record in self._records.values() if record.done_at is None]
        lag = self._clock() - min(pending, default=self._clock())
        return OutboxGauges(num_pending=min(len(pending), MAX_COUNTED), lag=max(lag, timedelta(0)))

    def holds(self, org_id: UUID) -> bool:
        """Tell whether anything here is the tenant's."""
        return any(key[0] == org_id for key in self._records)

    def _named(self, org_id: UUID, row_ids: Sequence[UUID]) -> list[_Record]:
        keys = dict.fromkeys((org_id, row_id) for row_id in row_ids)
        return [self._records[key] for key in keys if key in self._records]

    def _due(self, records: Iterable[_Record]) -> list[_Record]:
        now = self._clock()
        return sorted((each for each in records if each.is_due(now)), key=_age)

    def _hold(self, records: Sequence[_Record], hold: timedelta) -> Sequence[_Record]:
        until = self._clock() + hold
        for record in records:
            record.available_at = until
        return records


def _age(record: _Record) -> tuple[datetime, UUID]:
    return record.available_at, record.row.id


def _shared_out(due: Sequence[_Record], limit: int) -> list[_Record]:
    """Return the first of each tenant, then the second of each, and so on up to the limit, in their own order."""
    seen: Counter[UUID] = Counter()
    ranked: list[tuple[int, int]] = []
    for position, record in enumerate(due):
        seen[record.org_id] += 1
        ranked.append((seen[record.org_id], position))
    return [due[position] for position in sorted(position for _, position in sorted(ranked)[:limit])]
