"""Audit entries in this process's memory."""

from collections.abc import Sequence
from typing import override
from uuid import UUID

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.storage.outcomes import InsertOutcome


class AuditStorageMemoryImpl(AuditStorageInterface):
    """One dictionary. No method awaits anything, so each is atomic within its event loop."""

    def __init__(self) -> None:
        self._entries: dict[tuple[UUID, UUID], AuditEntry] = {}

    @override
    async def create_entry(self, org_id: UUID, entry: AuditEntry) -> InsertOutcome:
        if (org_id, entry.id) in self._entries:
            return InsertOutcome.ID_EXISTS
        self._entries[org_id, entry.id] = entry
        return InsertOutcome.INSERTED

    @override
    async def create_entries(self, entries: Sequence[tuple[UUID, AuditEntry]]) -> tuple[InsertOutcome, ...]:
        return tuple([await self.create_entry(org_id, entry) for org_id, entry in entries])

    @override
    async def read_entries(
        self, org_id: UUID, query: AuditFilter, limit: int, after: UUID | None = None
    ) -> tuple[AuditEntry, ...]:
        own = (entry for (owner_id, _), entry in self._entries.items() if owner_id == org_id)
        found = [entry for entry in own if (after is None or entry.id < after) and _matches(entry, query)]
        return tuple(sorted(found, key=lambda entry: entry.id, reverse=True)[:limit])


def _matches(entry: AuditEntry, query: AuditFilter) -> bool:
    wanted = query.model_dump(exclude_none=True)
    return all(getattr(entry, name) == value for name, value in wanted.items())
