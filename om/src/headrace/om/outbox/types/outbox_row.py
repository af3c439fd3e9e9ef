"""The outbox row: a side effect that a core write asked for in its own transaction."""

from typing import Final
from uuid import UUID

from pydantic import AwareDatetime, Field

from headrace.om.base import FrozenMapping, Identifiable, Platform, utcnow

ENTITY_CHANGED_KIND: Final = "entity.changed"
WORK_KIND_PREFIX: Final = "work."


class OutboxRow(Identifiable):
    """One side effect to carry on: an entity change, or work to enqueue (`work.<kind>`).

    The row's id is the idempotency key of whatever it leads to, so relaying it twice leaves one effect. The
    tenant travels beside the row. Payloads carry ids, never personal values.
    """

    kind: str = Field(min_length=1, max_length=100)
    payload: FrozenMapping = Field(default_factory=FrozenMapping)
    actor_id: UUID
    request_id: UUID
    traceparent: str | None = Field(default=None, max_length=128)
    created_at: AwareDatetime = Field(default_factory=utcnow)


class UnreadableRow(Platform):
    """A row that is there and cannot be read as an `OutboxRow`: it fails by itself and waits."""

    id: UUID
    kind: str
    error: str


type TakenRow = OutboxRow | UnreadableRow
"""What a relay is handed: a row that another program landed may be anything that the table's checks let through."""
