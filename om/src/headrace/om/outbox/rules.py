"""The outbox's rules: what a row may hold, and how long it waits that could not be relayed."""

from datetime import timedelta
from typing import Final

from pydantic import Field

from headrace.om.base import Platform
from headrace.om.encoding import encode_json, refuse_unstorable_instant
from headrace.om.outbox.types.outbox_row import OutboxRow

MAX_ERROR_BYTES: Final = 8 * 1024
MAX_PAYLOAD_BYTES: Final = 264 * 1024
"""The largest payload of a row: that of a work item and room for what stands around it."""

MAX_DOUBLINGS: Final = 30
"""Doubling stops here, far above any cap, so that no power overflows."""


class RelayBackoff(Platform):
    """How long a row waits after failures: `base`, doubled with each failure, at most `cap`."""

    base: timedelta = Field(default=timedelta(seconds=1), gt=timedelta(0), le=timedelta(days=1))
    cap: timedelta = Field(default=timedelta(minutes=10), gt=timedelta(0), le=timedelta(days=1))


def encoded_payload(row: OutboxRow) -> str:
    """Return the row's payload as JSON text, when the row can be stored and read again.

    Raises:
        ValidationFailed: Its payload or its instant cannot be; the sentence names the field.
    """
    refuse_unstorable_instant("created_at", row.created_at)
    return encode_json("payload", row.payload, limit_bytes=MAX_PAYLOAD_BYTES)


def relay_delay(backoff: RelayBackoff, num_failures: int) -> timedelta:
    """Return how long a row waits after its failure number `num_failures` (1 is the first).

    The statement of `mark_failed` evaluates this rule itself; a contract case holds the two together.
    """
    doublings = min(max(num_failures - 1, 0), MAX_DOUBLINGS)
    return timedelta(seconds=min(backoff.base.total_seconds() * 2**doublings, backoff.cap.total_seconds()))
