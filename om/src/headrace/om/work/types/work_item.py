"""The work item: one piece of durable background work, its statuses, its bounds."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from headrace.om.base import PROVENANCE_FIELDS, FrozenMapping, Identifiable, Trackable
from headrace.om.work.types.kinds import WorkKind

MAX_PAYLOAD_BYTES: Final = 256 * 1024
MAX_RESULT_BYTES: Final = 64 * 1024
MAX_ERROR_BYTES: Final = 8 * 1024
MAX_NOTE_BYTES: Final = 500


class WorkStatus(StrEnum):
    """Where a work item stands."""

    QUEUED = "queued"
    """Waiting for a worker, from `available_at` on."""
    CLAIMED = "claimed"
    """Held by one claim, until it is settled or its lease passes."""
    DONE = "done"
    FAILED = "failed"
    """A dead letter: no attempt is left, or the item was refused."""
    CANCELLED = "cancelled"


SETTLED_STATUSES: Final = frozenset({WorkStatus.DONE, WorkStatus.FAILED, WorkStatus.CANCELLED})
"""The statuses that only a retry or a purge ends."""


PayloadField = Annotated[str, Field(min_length=1, max_length=100)]
"""The name of a field of the payload's model."""


class WorkItem(Identifiable, Trackable):
    """One piece of durable work within a tenant; the tenant travels beside the item.

    A caller fills in what to do (`kind`, `payload`, `target_id`), who asked (`origin`), where and when
    (`lane`, `priority`, `available_at`) and how often at most (`max_attempts`). Everything else is the
    manager's, whatever the caller sent.
    """

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS | {
        "status",
        "claimed_by",
        "claim_token",
        "lease_expires_at",
        "attempts",
        "crashes",
        "last_error",
        "error_code",
        "result",
        "progress",
        "progress_note",
        "started_at",
        "settled_at",
        "cancel_requested_at",
        "bundle_id",
        "unique_hash",
    }

    kind: WorkKind
    lane: str = Field(default="default", min_length=1, max_length=100)
    origin: str = Field(min_length=1, max_length=100, description="Who asked, for operators")
    target_id: UUID | None = Field(default=None, description="The record that the work advances")
    idempotency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Unique per tenant; bundle: and schedule: begin the queue's own",
    )
    unique_for: tuple[PayloadField, ...] | None = Field(
        default=None,
        max_length=20,
        description="Payload fields in which no two unsettled items of the kind agree; () allows one of the kind",
    )
    concurrency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="At most so many of an org's items with one key run at once as the kind's key limit says, else 1",
    )
    ordering_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="An org's items with one key run one at a time, in the order in which they became due",
    )
    request_id: UUID | None = None
    traceparent: str | None = Field(default=None, max_length=128)
    payload: FrozenMapping = Field(default_factory=FrozenMapping)
    priority: int = Field(default=0, ge=-32768, le=32767, description="Higher first")
    available_at: AwareDatetime | None = Field(
        default=None, description="Not before this instant; None is at once, on the database's clock"
    )
    max_attempts: int = Field(default=3, ge=1, le=10_000)
    status: WorkStatus = WorkStatus.QUEUED
    claimed_by: str | None = Field(default=None, max_length=200, description="For operators; never a fence")
    claim_token: UUID | None = Field(default=None, description="The fence: a new one with every claim")
    lease_expires_at: AwareDatetime | None = None
    attempts: int = Field(default=0, ge=0)
    crashes: int = Field(default=0, ge=0, description="Claims that ended in a passed lease since the last success")
    last_error: str | None = None
    error_code: str | None = Field(default=None, max_length=100)
    result: Any = Field(default=None, description="What the handler returned, as JSON")
    progress: float | None = Field(default=None, ge=0, le=1)
    progress_note: str | None = None
    started_at: AwareDatetime | None = None
    settled_at: AwareDatetime | None = None
    cancel_requested_at: AwareDatetime | None = None
    bundle_id: UUID | None = None
    unique_hash: UUID | None = Field(default=None, description="What the fields of `unique_for` say, as a digest")

    @property
    def has_key(self) -> bool:
        """Whether the item waits for others of its key."""
        return self.concurrency_key is not None or self.ordering_key is not None

    @model_validator(mode="after")
    def _one_key_at_most(self) -> Self:
        if self.concurrency_key is not None and self.ordering_key is not None:
            raise ValueError("ordering_key: expected none beside concurrency_key; items in order run one at a time")
        return self
