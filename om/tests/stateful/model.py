"""What the queue's rows should hold after the events so far: the design's table of states as plain Python.

Written from `work-queue` alone: it imports no rule of the implementations that are held to it. Time is what has passed
since the machine began. Of two instants that are equal the one of the earlier step is the earlier one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

type Key = tuple[UUID, UUID]
"""A row's tenant and id."""

UNSETTLED: Final = frozenset({"queued", "claimed"})
REFUNDED: Final = frozenset({"released", "deferred", "parked"})
NOTHING: Final = timedelta(0)
MAX_CRASHES: Final = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for when an item is enqueued."""

    id: UUID
    kind: str
    lane: str
    priority: int = 0
    delay: timedelta = NOTHING
    max_attempts: int = 3
    key: str | None = None
    unique: str | None = None
    concurrency_key: str | None = None
    ordering_key: str | None = None


@dataclass(slots=True)
class Expected:
    """One item as it should stand."""

    org_id: UUID
    asked: Asked
    due_at: timedelta
    step: int
    bundle_id: UUID | None = None
    status: str = "queued"
    attempts: int = 0
    crashes: int = 0
    token: UUID | None = None
    lease_ends_at: timedelta | None = None
    has_begun: bool = False
    is_cancel_asked: bool = False
    settled_at: timedelta | None = None
    settlement_id: UUID | None = None

    @property
    def row(self) -> Key:
        return self.org_id, self.asked.id

    @property
    def is_settled(self) -> bool:
        return self.status not in UNSETTLED

    @property
    def uniqueness(self) -> tuple[UUID, str, str] | None:
        return None if self.asked.unique is None else (self.org_id, self.asked.kind, self.asked.unique)


@dataclass(slots=True)
class ExpectedBundle:
    """One bundle: how each of its items has ended, also those that are gone; "open" where one has not."""

    org_id: UUID
    id: UUID
    members: dict[UUID, str]
    follow_up: Asked | None = None
    settled_at: timedelta | None = None

    @property
    def counts(self) -> tuple[int, int, int]:
        ends = Counter(self.members.values())
        return ends["done"], ends["failed"], ends["cancelled"]

    @property
    def is_settled(self) -> bool:
        return "open" not in self.members.values()


@dataclass(slots=True)
class QueueModel:
    """Every item and bundle of every org, and how each event changes them."""

    now: timedelta = NOTHING
    step: int = 0
    items: dict[Key, Expected] = field(default_factory=dict)
    bundles: dict[Key, ExpectedBundle] = field(default_factory=dict)

    def of(self, org_id: UUID) -> list[Expected]:
        return [item for item in self.items.values() if item.org_id == org_id]

    def in_way_of(self, org_id: UUID, asked: Asked) -> UUID | None:
        """Return the item that has the id, the key or the uniqueness already."""
        mine = self.of(org_id)
        with_key = [i for i in mine if asked.key is not None and i.asked.key == asked.key]
        with_id = [i for i in mine if i.asked.id == asked.id]
        alike = self.alike(Expected(org_id, asked, NOTHING, 0))
        return next((item.asked.id for item in (*with_id, *with_key, *alike)), None)

    def alike(self, item: Expected) -> list[Expected]:
        """Return other unsettled items that agree with this one in what it is unique for."""
        if item.uniqueness is None:
            return []
        return [i for i in self.items.values() if i.row != item.row and not i.is_settled and _agree(i, item)]

    def enqueue(self, org_id: UUID, asked: Asked, bundle_id: UUID | None = None) -> UUID:
        """Enqueue it unless something is in its way; return which item is there now."""
        there = self.in_way_of(org_id, asked)
        if there is not None:
            return there
        item = Expected(org_id, asked, self.now + asked.delay, self.step, bundle_id)
        self.items[item.row] = item
        return asked.id

    def enqueue_bundle(self, bundle: ExpectedBundle, asked: Iterable[Asked]) -> None:
        """Enqueue a bundle of which nothing is in the way."""
        self.bundles[bundle.org_id, bundle.id] = bundle
        for each in asked:
            self.enqueue(bundle.org_id, each, bundle.id)

    def claim(self, item: Expected, token: UUID, lease: timedelta) -> None:
        """A worker takes it."""
        item.status, item.token, item.lease_ends_at = "claimed", token, self.now + lease
        item.attempts += 1
        item.has_begun = True

    def is_live(self, item: Expected) -> bool:
        """Whether its claim counts: it is held, and its lease has not passed."""
        return item.lease_ends_at is not None and item.lease_ends_at > self.now

    def settle(self, item: Expected, end: str, settlement_id: UUID | None, delay: timedelta = NOTHING) -> None:
        """Its holder ends the claim: done, failed, cancelled, retry, released, deferred or parked."""
        item.token = item.lease_ends_at = None
        item.attempts -= 1 if end in REFUNDED else 0
        item.crashes = 0 if end == "done" else item.crashes
        item.settlement_id = settlement_id
        if end in {"done", "failed", "cancelled"}:
            self._end(item, end)
            return
        item.due_at, item.step = self.now + delay, self.step
        if item.is_cancel_asked:
            self._end(item, "cancelled")
        else:
            item.status = "queued"

    def sweep(self, org_id: UUID) -> int:
        """Take back every claim whose lease has passed; return how many."""
        dead = [i for i in self.of(org_id) if i.status == "claimed" and not self.is_live(i)]
        for item in dead:
            is_spent = item.attempts >= item.asked.max_attempts or item.crashes + 1 >= MAX_CRASHES
            item.token = item.lease_ends_at = None
            item.crashes += 1
            item.due_at, item.step, item.status = self.now, self.step, "queued"
            if item.is_cancel_asked or is_spent:
                self._end(item, "cancelled" if item.is_cancel_asked else "failed")
        return len(dead)

    def cancel(self, item: Expected) -> None:
        """Somebody wants it no more."""
        item.is_cancel_asked = True
        if item.status == "queued":
            self._end(item, "cancelled")

    def retry(self, item: Expected) -> None:
        """It begins again as if it were new."""
        again = Expected(item.org_id, replace(item.asked, delay=NOTHING), self.now, self.step, item.bundle_id)
        again.settlement_id = item.settlement_id
        self.items[item.row] = again
        bundle = self._bundle_of(item)
        if bundle is not None:
            bundle.members[item.asked.id] = "open"
            bundle.settled_at = None

    def remove(self, item: Expected) -> None:
        """It is deleted or purged; one that had not settled counts as cancelled."""
        del self.items[item.row]
        if not item.is_settled:
            self._count(item, "cancelled")

    def remove_bundle(self, bundle: ExpectedBundle) -> None:
        """It goes with all of its items."""
        del self.bundles[bundle.org_id, bundle.id]
        for item in self.items_of(bundle):
            del self.items[item.row]

    def purge(self, org_id: UUID, older_than: timedelta) -> int:
        """What settled longer ago goes, then the bundles of which no item is left; return how many rows."""
        before = self.now - older_than
        old = [i for i in self.of(org_id) if i.settled_at is not None and i.settled_at < before]
        for item in old:
            del self.items[item.row]
        empty = [b for b in self.bundles.values() if b.org_id == org_id and not self.items_of(b)]
        gone = [b for b in empty if b.settled_at is not None and b.settled_at < before]
        for bundle in gone:
            del self.bundles[bundle.org_id, bundle.id]
        return len(old) + len(gone)

    def items_of(self, bundle: ExpectedBundle) -> list[Expected]:
        return [i for i in self.of(bundle.org_id) if i.bundle_id == bundle.id]

    def _end(self, item: Expected, status: str) -> None:
        item.status, item.settled_at = status, self.now
        self._count(item, status)

    def _count(self, item: Expected, status: str) -> None:
        bundle = self._bundle_of(item)
        if bundle is None:
            return
        bundle.members[item.asked.id] = status
        if bundle.is_settled:
            bundle.settled_at = self.now
            if bundle.follow_up is not None:
                self.enqueue(bundle.org_id, bundle.follow_up)

    def _bundle_of(self, item: Expected) -> ExpectedBundle | None:
        return None if item.bundle_id is None else self.bundles.get((item.org_id, item.bundle_id))


def _agree(one: Expected, other: Expected) -> bool:
    return one.uniqueness == other.uniqueness
