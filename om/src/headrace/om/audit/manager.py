"""What the audit trail promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from uuid import UUID

from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.context import OpContext
from headrace.om.storage.outcomes import InsertOutcome


class AuditManagerInterface(ABC):
    """A tenant's audit trail: appended to by the platform's own processes, read by its members, never changed.

    Every method raises `NotAuthorized` before it does anything when the context lacks its permission.
    """

    @abstractmethod
    async def append(self, ctx: OpContext, entry: AuditEntry) -> InsertOutcome:
        """Add an entry, signed with the context's user and request. Permission: AUDIT_APPEND.

        Safe to call again with the same id: the first entry stays as it is and ID_EXISTS says so.

        Raises:
            ValidationFailed: The details are larger than 16 KiB or cannot be stored; nothing was written.
            Unavailable: The database did not take it; it may be appended again.
        """
        ...

    @abstractmethod
    async def append_many(self, entries: Sequence[tuple[OpContext, AuditEntry]]) -> tuple[InsertOutcome, ...]:
        """Add entries of many tenants in one statement, each as `append` does; return what became of each, in order.

        All or nothing where one of them is refused.

        Args:
            entries: Each with the context that signs it; at most 1000, no two of one tenant with the same id.

        Raises:
            ValidationFailed: There are too many, or the details of one do not fit; nothing was written.
            Unavailable: The database did not take them; they may be appended again.
        """
        ...

    @abstractmethod
    async def get_entries(
        self, ctx: OpContext, query: AuditFilter, limit: int, after: UUID | None = None
    ) -> tuple[AuditEntry, ...]:
        """Return entries that match, newest id first. Permission: AUDIT_READ.

        Args:
            ctx: Whose trail.
            query: Which entries; an empty filter is all of them.
            limit: 1 to 1000.
            after: The id of the entry after which to go on to older ones; None starts at the newest.

        Raises:
            ValidationFailed: The limit is out of range.
        """
        ...
