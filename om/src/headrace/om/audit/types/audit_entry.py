"""The audit entry, and which entries a reader wants."""

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from headrace.om.base import EMPTY_UUID, Created, FrozenMapping, Identifiable, Platform


class AuditEntry(Identifiable, Created):
    """One thing that was done to one record. Ids and numbers only: an entry outlives whom it speaks of."""

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = frozenset({"created_by", "request_id"})

    action: str = Field(pattern=r"^[a-z_]{1,49}\.[a-z_]{1,50}$", description="Such as `work.dead_letter`")
    target_type: str = Field(pattern=r"^[a-z_]{1,100}$", description="Such as `work_item`")
    target_id: UUID
    request_id: UUID = EMPTY_UUID
    """The request that did it."""
    details: FrozenMapping = Field(default_factory=FrozenMapping, description="At most 16 KiB as JSON")


class AuditFilter(Platform):
    """Which entries of a tenant; every field that is set narrows."""

    action: str | None = Field(default=None, max_length=100)
    target_type: str | None = Field(default=None, max_length=100)
    target_id: UUID | None = None
    request_id: UUID | None = None
