"""Where claimed work comes from."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class WorkOrigin:
    """The tenant of a claimed item, who enqueued it, and on which request."""

    org_id: UUID
    created_by: UUID
    request_id: UUID | None
    traceparent: str | None = None
