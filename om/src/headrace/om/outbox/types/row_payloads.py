"""What the payload of an outbox row says, for each of the two sorts of rows."""

from uuid import UUID

from pydantic import AwareDatetime, Field

from headrace.om.base import FrozenMapping, Platform


class EntityChange(Platform):
    """A record was written: the payload of an `entity.changed` row."""

    entity: str = Field(min_length=1, max_length=100, description="The record's type, such as `org`")
    entity_id: UUID
    change: str = Field(min_length=1, max_length=100, description="What happened to it, such as `created`")


class WorkRequest(Platform):
    """Work to enqueue: the payload of a `work.<kind>` row. The fields are those of `WorkItem`."""

    origin: str = Field(min_length=1, max_length=100)
    lane: str = Field(default="default", min_length=1, max_length=100)
    target_id: UUID | None = None
    priority: int = Field(default=0, ge=-32768, le=32767)
    available_at: AwareDatetime | None = None
    max_attempts: int | None = Field(default=None, ge=1, le=10_000, description="The kind's own default when None")
    unique_for: tuple[str, ...] | None = Field(default=None, max_length=20)
    concurrency_key: str | None = Field(default=None, min_length=1, max_length=200)
    ordering_key: str | None = Field(default=None, min_length=1, max_length=200)
    payload: FrozenMapping = Field(default_factory=FrozenMapping)
