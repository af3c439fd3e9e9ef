"""The table of audit entries."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class AuditEntryRow(Table):
    """An audit entry. The tenant leads the key, so that a tenant's newest entries are one walk along it."""

    __tablename__ = "audit_entries"

    org_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    action: Mapped[str] = mapped_column(Text)
    target_type: Mapped[str] = mapped_column(Text)
    target_id: Mapped[UUID]
    request_id: Mapped[UUID]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]


Index("audit_entries_org_id_target_id_id", AuditEntryRow.org_id, AuditEntryRow.target_id, AuditEntryRow.id)
