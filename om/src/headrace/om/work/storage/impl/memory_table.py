"""The rows of the queue over memory: what the database's indexes, checks and counting statements hold there."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from headrace.om.base import EMPTY_UUID, FrozenMapping, Identifiable
from headrace.om.storage.clock import Clock
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.bundling import counted, follow_up_of
from headrace.om.work.storage.impl.item_columns import payload_json
from headrace.om.work.types.bundle import BundleStatus, WorkBundle
from headrace.om.work.types.queries import CreatedItem
from headrace.om.work.types.schedule import WorkSchedule
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus

type Key = tuple[UUID, UUID]
"""A row's tenant and id."""


def owned[RowT](rows: Mapping[Key, RowT], org_id: UUID) -> list[RowT]:
    """Return a tenant's rows."""
    return [row for (owner, _), row in rows.items() if owner == org_id]


def newest_first[RowT: Identifiable](rows: Iterable[RowT], after: UUID | None = None) -> list[RowT]:
    """Return rows in the order of pages: by id, newest first, from below `after` on."""
    return sorted((row for row in rows if after is None or row.id < after), key=lambda row: row.id, reverse=True)


@dataclass(slots=True)
class WorkTable:
    """Items, bundles and schedules by tenant and id.

    For one event loop; a storage's method is one critical section over it.
    """

    clock: Clock
    rows: dict[Key, WorkItem] = field(default_factory=dict)
    bundles: dict[Key, WorkBundle] = field(default_factory=dict)
    schedules: dict[Key, WorkSchedule] = field(default_factory=dict)
    settlements: dict[Key, UUID] = field(default_factory=dict)
    """Which settlement ended an item's last claim."""
    _keys: dict[tuple[UUID, str], UUID] = field(default_factory=dict)
    _uniques: dict[tuple[UUID, UUID], UUID] = field(default_factory=dict)

    def of(self, org_id: UUID) -> list[WorkItem]:
        """Return a tenant's items."""
        return owned(self.rows, org_id)

    def by_key(self, org_id: UUID, key: str) -> WorkItem | None:
        """Return the item with an idempotency key."""
        item_id = self._keys.get((org_id, key))
        return None if item_id is None else self.rows.get((org_id, item_id))

    def held(self, org_id: UUID, item_id: UUID, token: UUID) -> WorkItem | None:
        """Return the item while the token holds it."""
        item = self.rows.get((org_id, item_id))
        return item if item is not None and item.claim_token == token else None

    def taken(self, org_id: UUID, item: WorkItem) -> CreatedItem | None:
        """Return what keeps an item from being inserted; None where it is free."""
        if (org_id, item.id) in self.rows:
            return CreatedItem(outcome=InsertOutcome.ID_EXISTS, item_id=item.id)
        there = None if item.idempotency_key is None else self._keys.get((org_id, item.idempotency_key))
        if (there := there or self.agreeing(org_id, item)) is not None:
            return CreatedItem(outcome=InsertOutcome.KEY_EXISTS, item_id=there)
        return None

    def agreeing(self, org_id: UUID, item: WorkItem) -> UUID | None:
        """Return the unsettled item that agrees with this one in what it is unique for."""
        return None if item.unique_hash is None else self._uniques.get((org_id, item.unique_hash))

    def insert(self, org_id: UUID, item: WorkItem) -> CreatedItem:
        """Insert an item, or report what is there already."""
        if (taken := self.taken(org_id, item)) is not None:
            return taken
        # Through JSON, as the database would have it.
        stored = FrozenMapping(json.loads(payload_json(item)))
        available_at = item.available_at or self.clock()
        self.rows[org_id, item.id] = item.model_copy(update={"available_at": available_at, "payload": stored})
        if item.idempotency_key is not None:
            self._keys[org_id, item.idempotency_key] = item.id
        self._note_unique(org_id, item)
        return CreatedItem(outcome=InsertOutcome.INSERTED, item_id=item.id)

    def write(self, org_id: UUID, item: WorkItem, **changes: Any) -> WorkItem:  # noqa: ANN401 - values of any field
        """Replace the row; every write after the enqueue is signed by the platform. Counts for the item's bundle."""
        written = item.model_copy(update=changes | {"updated_at": self.clock(), "updated_by": EMPTY_UUID})
        self.rows[org_id, item.id] = written
        was_settled, is_settled = item.status in SETTLED_STATUSES, written.status in SETTLED_STATUSES
        if is_settled and not was_settled:
            self._forget_unique(org_id, item)
            self._count(org_id, item.bundle_id, written.status, by=1)
        if was_settled and not is_settled:
            self._note_unique(org_id, item)
            self._count(org_id, item.bundle_id, item.status, by=-1)
        return written

    def remove(self, org_id: UUID, item: WorkItem) -> None:
        """Remove the row; one that had not settled counts as cancelled in its bundle."""
        del self.rows[org_id, item.id]
        self.settlements.pop((org_id, item.id), None)
        if item.idempotency_key is not None:
            del self._keys[org_id, item.idempotency_key]
        if item.status not in SETTLED_STATUSES:
            self._forget_unique(org_id, item)
            self._count(org_id, item.bundle_id, WorkStatus.CANCELLED, by=1)

    def _note_unique(self, org_id: UUID, item: WorkItem) -> None:
        if item.unique_hash is not None:
            self._uniques[org_id, item.unique_hash] = item.id

    def _forget_unique(self, org_id: UUID, item: WorkItem) -> None:
        if item.unique_hash is not None:
            del self._uniques[org_id, item.unique_hash]

    def _count(self, org_id: UUID, bundle_id: UUID | None, status: WorkStatus, *, by: int) -> None:
        """Count one item of a bundle, which may settle it or open it again; what follows is enqueued once."""
        bundle = None if bundle_id is None else self.bundles.get((org_id, bundle_id))
        if bundle is None:
            return
        written = self.bundles[org_id, bundle.id] = counted(bundle, status, by, self.clock())
        follow_up = follow_up_of(written)
        if written.status is BundleStatus.SETTLED and follow_up is not None:
            self.insert(org_id, follow_up)
