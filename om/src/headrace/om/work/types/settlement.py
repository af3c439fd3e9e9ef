"""How a claim ends: what the holder of a claim token asks the queue to record."""

import json
from datetime import timedelta
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from headrace.om.base import Platform, new_id
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus


class Outcome(StrEnum):
    """How one claim ended."""

    DONE = "done"
    RETRY = "retry"
    """Failed with attempts left: queued again after a delay."""
    FAILED = "failed"
    """A dead letter: attempts spent, or refused."""
    CANCELLED = "cancelled"
    RELEASED = "released"
    """Handed back unfinished; the attempt is refunded."""
    DEFERRED = "deferred"
    """Handed back until later by the handler's wish; the attempt is refunded."""
    PARKED = "parked"
    """Handed back until an instant, with a reason; the attempt is refunded."""

    @property
    def status(self) -> WorkStatus:
        """Return where the item stands afterwards."""
        return _STATUS_AFTER.get(self, WorkStatus.QUEUED)

    @property
    def refunds_attempt(self) -> bool:
        """Whether the claim does not count as an attempt."""
        return self in {Outcome.RELEASED, Outcome.DEFERRED, Outcome.PARKED}


_STATUS_AFTER = {
    Outcome.DONE: WorkStatus.DONE,
    Outcome.FAILED: WorkStatus.FAILED,
    Outcome.CANCELLED: WorkStatus.CANCELLED,
}


class Settlement(Platform):
    """One claim's end, conditional on its token wherever it is written.

    `last_error` and `result` hold text that the database takes, cleaned and bounded by `rules`. Its own id is written
    with it: when the answer to a write was lost, the same settlement written again is known as recorded.
    """

    settlement_id: UUID = Field(default_factory=new_id)
    item_id: UUID
    kind: WorkKind
    lane: str
    origin: str
    bundle_id: UUID | None = None
    has_key: bool = Field(default=False, description="Whether items of the same key may wait for this end")
    claim_token: UUID
    outcome: Outcome
    delay: timedelta = Field(default=timedelta(0), ge=timedelta(0), description="Until available, for queued ends")
    until: AwareDatetime | None = Field(default=None, description="Instead of a delay: available at this instant")
    last_error: str | None = None
    error_code: str | None = Field(default=None, max_length=100)
    result_json: str | None = None
    then: tuple[WorkItem, ...] = Field(default=(), description="Enqueued with this settlement, or not at all")

    @property
    def result(self) -> Any:  # noqa: ANN401 - any JSON value
        """What the handler returned, as it is stored."""
        return None if self.result_json is None else json.loads(self.result_json)

    @model_validator(mode="after")
    def _delay_only_when_queued(self) -> Self:
        if (self.delay or self.until) and self.outcome.status is not WorkStatus.QUEUED:
            raise ValueError("delay: expected none for an item that is not queued again")
        return self


class Settled(Platform):
    """What became of a settlement."""

    item_id: UUID
    status: WorkStatus | None
    """Where the item stands now (a cancel that was asked for wins over queueing again).

    None: the token no longer holds the item and nothing was changed.
    """
    settled_bundle_id: UUID | None = None
    """The bundle that this item was the last open one of; it may have been opened again since."""

    @property
    def is_recorded(self) -> bool:
        """Whether the settlement was written."""
        return self.status is not None


class Renewal(Platform):
    """One claim whose lease is to be renewed."""

    item_id: UUID
    claim_token: UUID


class Renewed(Platform):
    """A renewal that held; renewals missing from an answer did not.

    The token says which: an item's id means nothing outside its tenant.
    """

    item_id: UUID
    claim_token: UUID
    is_cancel_requested: bool


class Enqueued(Platform):
    """What became of one item of a bulk enqueue."""

    item_id: UUID
    """The row's id: the item's own, or that of the row that already had the key."""
    is_new: bool
