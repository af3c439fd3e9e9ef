"""What the parts of the work manager share: their dependencies, and what every settlement is followed by."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import batched
from typing import Final
from uuid import UUID

from headrace.infra.topics import TopicsInterface
from headrace.infra.topics.wakeups import CoalescedWakeups
from headrace.om.audit import AuditManagerInterface
from headrace.om.audit.types.audit_entry import AuditEntry
from headrace.om.base import FrozenMapping, utcnow
from headrace.om.context import OpContext
from headrace.om.exceptions import PlatformException
from headrace.om.paging import DEFAULT_SWEEP_LIMIT, MAX_PAGE
from headrace.om.tenancy import TenancyManagerInterface
from headrace.om.work.impl.news import Ended, WorkNews
from headrace.om.work.rules import MAX_CRASHES
from headrace.om.work.scheduling import DEFAULT_TICK_LIMIT
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.bundle import BundleStatus
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.settlement import Settlement
from headrace.om.work.types.work_item import WorkItem

logger = logging.getLogger(__name__)

SOON: Final = timedelta(seconds=1)
"""Items due later than this wake nobody; the poll finds them."""


@dataclass(frozen=True, slots=True)
class WorkParts:
    """What the work manager is made of.

    Args:
        storage: The queue's rows.
        tenancy: Whose transitions give claimed work and sweeps their contexts.
        audit: Where dead letters are named.
        wakeups: How lanes are woken.
        topics: Where ends are told of, and heard of by who waits.
        on_dead_letter: Called once for each dead letter, for a metric; must not raise.
        max_crashes: Claims in a row that may end in a passed lease before an item becomes a dead letter; 1 or more.
        sweep_limit: Rows of one tenant that one call of the sweep moves at most; 1 or more.
        tick_limit: Ticks of one schedule that one pass enqueues at most; 1 or more.
        tells_settlements: Whether settled batches are told of even where it is not known that somebody listens.
    """

    storage: WorkStorageInterface
    tenancy: TenancyManagerInterface
    audit: AuditManagerInterface
    wakeups: CoalescedWakeups
    topics: TopicsInterface
    on_dead_letter: Callable[[WorkKind], None]
    max_crashes: int = MAX_CRASHES
    sweep_limit: int = DEFAULT_SWEEP_LIMIT
    tick_limit: int = DEFAULT_TICK_LIMIT
    tells_settlements: bool = False


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An item that failed for good: its kind, which is counted, and the entry that names it."""

    kind: WorkKind
    entry: AuditEntry


class WorkPart:
    """The base of the manager's parts; opens nothing."""

    def __init__(self, parts: WorkParts) -> None:
        self._storage = parts.storage
        self._tenancy = parts.tenancy
        self._audit = parts.audit
        self._wakeups = parts.wakeups
        self._news = WorkNews(parts.topics, tells_settlements=parts.tells_settlements)
        self._on_dead_letter = parts.on_dead_letter
        self._max_crashes = parts.max_crashes
        self._sweep_limit = parts.sweep_limit
        self._tick_limit = parts.tick_limit

    def _wake(self, lanes: Iterable[str]) -> None:
        """Wake each lane, for as many items as it is named times; who is not woken finds them at the next poll."""
        for lane, num_items in Counter(lanes).items():
            self._wakeups.wake(lane, num_items)

    def _wake_for(self, items: Iterable[WorkItem]) -> None:
        """Wake the lanes of items that were enqueued and are due soon."""
        self._wake(item.lane for item in items if is_due_soon(item))

    def _let_others_in(self, ends: Iterable[WorkItem | Settlement]) -> None:
        """Wake the lanes where an end may free what others wait for."""
        self._wake(end.lane for end in ends if end.has_key or self._storage.is_bounded(end.lane))

    async def _name_dead_letters(self, letters: Sequence[tuple[OpContext, DeadLetter]]) -> None:
        """Count dead letters and name them in the audit, many in one statement.

        The failed row is what lasts: an audit that cannot be written is logged and never undoes the settlement.
        """
        for _, letter in letters:
            self._on_dead_letter(letter.kind)
        for page in batched(letters, MAX_PAGE):
            try:
                await self._audit.append_many([(ctx, letter.entry) for ctx, letter in page])
            except PlatformException as error:
                ids = ", ".join(str(letter.entry.target_id) for _, letter in page)
                logger.error("dead letters %s could not be named in the audit: %s", ids, error)  # noqa: TRY400 - known kind, no trace needed

    async def _tell(self, ends: Sequence[Ended]) -> None:
        """Tell how items ended, wake the lane of what follows their bundles, and tell of those that have settled.

        What is lost here is found by the next poll; nothing is raised.
        """
        for org_id, bundle_id in {(each.org_id, each.bundle_id) for each in ends}:
            if bundle_id is not None:
                await self._tell_of_bundle(org_id, bundle_id)
        if self._news.wants_ends:
            await self._news.tell_ends(ends)

    async def _tell_of_bundle(self, org_id: UUID, bundle_id: UUID) -> None:
        try:
            bundle = await self._storage.read_bundle(org_id, bundle_id)
        except PlatformException as error:
            logger.warning("bundle %s may have settled, and nobody is told: %s", bundle_id, error)
            return
        if bundle is None or bundle.status is not BundleStatus.SETTLED:
            return
        if bundle.on_settled is not None:
            self._wake([bundle.on_settled.lane])
        await self._news.tell_bundle(org_id, bundle)


def is_due_soon(item: WorkItem) -> bool:
    """Return whether enqueueing the item is worth a wake-up."""
    return item.available_at is None or item.available_at <= utcnow() + SOON


def dead_letter(item_id: UUID, kind: WorkKind, code: str | None) -> DeadLetter:
    """Return the dead letter that an item has become, with the entry that names it."""
    details = FrozenMapping({"kind": kind.value, "error_code": code})
    entry = AuditEntry(action="work.dead_letter", target_type="work_item", target_id=item_id, details=details)
    return DeadLetter(kind, entry)
