"""Where audit entries are kept."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from uuid import UUID

from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.storage.outcomes import InsertOutcome


class AuditStorageInterface(ABC):
    """Audit entries, each of one tenant; each method is one statement. Nothing changes or removes an entry."""

    @abstractmethod
    async def create_entry(self, org_id: UUID, entry: AuditEntry) -> InsertOutcome:
        """Insert an entry; ID_EXISTS where the tenant has one with this id, which stays as it is.

        Another tenant's entry with the same id is no obstacle and is not touched.
        """
        ...

    @abstractmethod
    async def create_entries(self, entries: Sequence[tuple[UUID, AuditEntry]]) -> tuple[InsertOutcome, ...]:
        """Insert entries as `create_entry` does, all or nothing; report each, in the given order.

        Takes no one tenant: what a worker settles at once belongs to many, so each entry comes with its tenant.

        Args:
            entries: At most 1000, no two of one tenant with the same id.
        """
        ...

    @abstractmethod
    async def read_entries(
        self, org_id: UUID, query: AuditFilter, limit: int, after: UUID | None = None
    ) -> tuple[AuditEntry, ...]:
        """Return at most `limit` of the tenant's entries that match, greatest id first, from below `after` on."""
        ...
