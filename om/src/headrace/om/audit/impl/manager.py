"""The audit manager."""

from typing import override
from uuid import UUID

from headrace.om.audit.manager import AuditManagerInterface
from headrace.om.audit.rules import refuse_unstorable_details
from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.context import OpContext, Permission
from headrace.om.paging import checked_limit
from headrace.om.storage.outcomes import InsertOutcome


class AuditManagerImpl(AuditManagerInterface):
    """The audit trail over any storage."""

    def __init__(self, storage: AuditStorageInterface) -> None:
        self._storage = storage

    @override
    async def append(self, ctx: OpContext, entry: AuditEntry) -> InsertOutcome:
        ctx.require(Permission.AUDIT_APPEND)
        refuse_unstorable_details(entry)
        signed = entry.with_changes(created_by=ctx.user_id, request_id=ctx.request_id)
        return await self._storage.create_entry(ctx.org_id, signed)

    @override
    async def get_entries(
        self, ctx: OpContext, query: AuditFilter, limit: int, after: UUID | None = None
    ) -> tuple[AuditEntry, ...]:
        ctx.require(Permission.AUDIT_READ)
        return await self._storage.read_entries(ctx.org_id, query, checked_limit(limit), after)
