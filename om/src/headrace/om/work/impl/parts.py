"""What the parts of the work manager share: their dependencies, and what every settlement is followed by."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import batched
from uuid import UUID

from headrace.infra.topics.wakeups import CoalescedWakeups
from headrace.om.audit import AuditManagerInterface
from headrace.om.audit.types.audit_entry import AuditEntry
from headrace.om.base import FrozenMapping
from headrace.om.context import OpContext
from headrace.om.exceptions import PlatformException
from headrace.om.paging import DEFAULT_SWEEP_LIMIT, MAX_PAGE
from headrace.om.tenancy import TenancyManagerInterface
from headrace.om.work.rules import MAX_CRASHES
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.kinds import WorkKind

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkParts:
    """What the work manager is made of.

    Args:
        storage: The queue's rows.
        tenancy: Whose transitions give claimed work and sweeps their contexts.
        audit: Where dead letters are named.
        wakeups: How lanes are woken.
        on_dead_letter: Called once for each dead letter, for a metric; must not raise.
        max_crashes: Claims in a row that may end in a passed lease before an item becomes a dead letter; 1 or more.
        sweep_limit: Rows of one tenant that one call of the sweep moves at most; 1 or more.
    """

    storage: WorkStorageInterface
    tenancy: TenancyManagerInterface
    audit: AuditManagerInterface
    wakeups: CoalescedWakeups
    on_dead_letter: Callable[[WorkKind], None]
    max_crashes: int = MAX_CRASHES
    sweep_limit: int = DEFAULT_SWEEP_LIMIT


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
        self._on_dead_letter = parts.on_dead_letter
        self._max_crashes = parts.max_crashes
        self._sweep_limit = parts.sweep_limit

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


def dead_letter(item_id: UUID, kind: WorkKind, code: str | None) -> DeadLetter:
    """Return the dead letter that an item has become, with the entry that names it."""
    details = FrozenMapping({"kind": kind.value, "error_code": code})
    entry = AuditEntry(action="work.dead_letter", target_type="work_item", target_id=item_id, details=details)
    return DeadLetter(kind, entry)
