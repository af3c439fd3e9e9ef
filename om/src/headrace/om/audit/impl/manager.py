"""The audit manager."""

from collections.abc import Sequence
from typing import override
from uuid import UUID

from headrace.om.audit.manager import AuditManagerInterface
from headrace.om.audit.rules import refuse_unstorable_details
from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.context import OpContext, Permission
from headrace.om.exceptions import ValidationFailed
from headrace.om.paging import MAX_PAGE, checked_limit
from headrace.om.storage.outcomes import InsertOutcome


class AuditManagerImpl(AuditManagerInterface):
    """The audit trail over any storage."""

    def __init__(self, storage: AuditStorageInterface) -> None:
        self._storage = storage

    @override
    async def append(self, ctx: OpContext, entry: AuditEntry) -> InsertOutcome:
        ctx.require(Permission.AUDIT_APPEND)
        return await self._storage.create_entry(ctx.org_id, _signed(ctx, entry))

    @override
    async def append_many(self, entries: Sequence[tuple[OpContext, AuditEntry]]) -> tuple[InsertOutcome, ...]:
        for ctx, _ in entries:
            ctx.require(Permission.AUDIT_APPEND)
        if len(entries) > MAX_PAGE:
            raise ValidationFailed("entries", f"at most {MAX_PAGE}, got {len(entries)}")
        return await self._storage.create_entries([(ctx.org_id, _signed(ctx, entry)) for ctx, entry in entries])

    @override
    async def get_entries(
        self, ctx: OpContext, query: AuditFilter, limit: int, after: UUID | None = None
    ) -> tuple[AuditEntry, ...]:
        ctx.require(Permission.AUDIT_READ)
        return await self._storage.read_entries(ctx.org_id, query, checked_limit(limit), after)


def _signed(ctx: OpContext, entry: AuditEntry) -> AuditEntry:
    refuse_unstorable_details(entry)
    return entry.with_changes(created_by=ctx.user_id, request_id=ctx.request_id)
