"""The queue's arithmetic: retry delays, exhaustion, staleness, stagger, and how a run's end becomes a settlement.

Pure: no clock, no I/O but a log line, no randomness but the seed's. The rules that a statement must evaluate itself
(`is_stale`, `stale_status`, `requeue_stagger`) stand once more in `storage/impl/statements.py`, named there
as such, and a contract case holds the two together.
"""

import json
import logging
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from random import Random
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from pydantic import Field

from headrace.om.base import PROVENANCE_FIELDS, Platform, new_id
from headrace.om.encoding import storable_instant, storable_json, storable_text
from headrace.om.exceptions import NotAuthorized, NotFound, PlatformException, ValidationFailed
from headrace.om.work.types.handler import Defer, Done, Park, Refuse, RetryLater
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.settlement import Outcome, Settled, Settlement
from headrace.om.work.types.work_item import (
    MAX_ERROR_BYTES,
    MAX_RESULT_BYTES,
    SETTLED_STATUSES,
    WorkItem,
    WorkStatus,
)

logger = logging.getLogger(__name__)

MAX_CRASHES: Final = 5
"""Claims in a row that may end in a passed lease before an item is poison and a dead letter, unless a setting says."""

STAGGER_STEP: Final = timedelta(milliseconds=50)
STAGGER_CAP: Final = timedelta(seconds=10)
LONGEST_DELAY: Final = timedelta(days=365)

LEASE_PASSED_ERROR: Final = "the lease passed: its worker died, was cut off, or stopped renewing"
TENANT_GONE_ERROR: Final = "the tenant is gone: nobody is left to run this for"

KEPT_BY_RETRY: Final = frozenset({"bundle_id", "unique_hash"})
"""The manager's own fields that belong to what the item is, not to how its runs went."""

AS_NEW: Final[Mapping[str, Any]] = MappingProxyType(
    {
        name: WorkItem.model_fields[name].default
        for name in WorkItem.MANAGER_OWNED_FIELDS - PROVENANCE_FIELDS - KEPT_BY_RETRY
    }
)
"""What the manager's own fields hold in an item that was just enqueued, or that is retried."""

PERMANENT_SHAPES: Final[tuple[type[PlatformException], ...]] = (ValidationFailed, NotFound, NotAuthorized)
"""Errors that come out the same however often the work is tried."""


class RetryPolicy(Platform):
    """How long a failed item waits: `base * factor ** (attempts - 1)`, capped, then spread by the jitter."""

    base: timedelta = Field(default=timedelta(seconds=2), ge=timedelta(0), le=LONGEST_DELAY)
    factor: float = Field(default=2.0, ge=1.0, le=100.0)
    cap: timedelta = Field(default=timedelta(hours=1), ge=timedelta(0), le=LONGEST_DELAY)
    jitter: float = Field(default=0.1, ge=0.0, le=1.0, description="Share of the delay to spread over, both ways")
    custom: Callable[[int], timedelta] | None = Field(
        default=None, description="Takes the attempts made, returns the delay instead of the formula"
    )
    max_attempts: int | None = Field(
        default=None, ge=1, le=10_000, description="For items that do not say; None leaves the item's own default"
    )


DEFAULT_RETRY_POLICY: Final = RetryPolicy()

RETRY_POLICIES: Final[Mapping[WorkKind, RetryPolicy]] = MappingProxyType(
    {
        WorkKind.DELIVER_WEBHOOK: RetryPolicy(base=timedelta(seconds=5), factor=3.0, cap=timedelta(hours=6)),
    }
)
"""The policies of kinds that want another than `DEFAULT_RETRY_POLICY`."""


def retry_delay(policy: RetryPolicy, attempts: int, seed: str) -> timedelta:
    """Return how long an item waits after its failed attempt number `attempts` (1 is the first).

    Never negative, never above `LONGEST_DELAY`; the same for the same seed and attempts. A custom
    callable's own errors are the caller's to catch.
    """
    if policy.custom is not None:
        return min(max(policy.custom(attempts), timedelta(0)), LONGEST_DELAY)
    spread = 1 + policy.jitter * (2 * Random(f"{seed}:{attempts}").random() - 1)  # noqa: S311 - spread, no secret
    return min(_exponential(policy, attempts) * spread, LONGEST_DELAY)


def _exponential(policy: RetryPolicy, attempts: int) -> timedelta:
    """Return the capped delay before jitter; compares logarithms, so that no power overflows."""
    base, cap = policy.base.total_seconds(), policy.cap.total_seconds()
    exponent = max(0, attempts - 1)
    if base <= 0 or cap <= 0:
        return timedelta(0)
    if math.log(base) + exponent * math.log(policy.factor) >= math.log(cap):
        return policy.cap
    return timedelta(seconds=base * policy.factor**exponent)


def max_attempts_of(item: WorkItem) -> int:
    """Return how often the item may be tried: what it says, else what the policy of its kind says."""
    if "max_attempts" in item.model_fields_set:
        return item.max_attempts
    return RETRY_POLICIES.get(item.kind, DEFAULT_RETRY_POLICY).max_attempts or item.max_attempts


def unique_hash(kind: WorkKind, values: Mapping[str, object]) -> UUID:
    """Return a digest of what an item is unique for: equal exactly when kind, fields and values are.

    Args:
        kind: The item's.
        values: The chosen fields of its payload, as JSON values.

    Source: BLAKE2b, RFC 7693, at 128 bits: two that differ meet once in 2**64 items of a tenant.
    """
    text = json.dumps([kind.value, values], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return UUID(bytes=blake2b(text.encode(), digest_size=16).digest())


def is_exhausted(attempts: int, max_attempts: int) -> bool:
    """Return whether no attempt is left."""
    return attempts >= max_attempts


def is_stale(item: WorkItem, now: datetime, overdue: timedelta) -> bool:
    """Return whether the item's lease passed longer ago than `overdue`, so that a sweep may take it back."""
    if item.status is not WorkStatus.CLAIMED or item.lease_expires_at is None:
        return False
    return item.lease_expires_at < now - overdue


def stale_status(item: WorkItem, *, max_crashes: int) -> WorkStatus:
    """Return where an item whose lease passed goes: cancelled when asked to, failed when spent, else queued."""
    if item.cancel_requested_at is not None:
        return WorkStatus.CANCELLED
    if is_exhausted(item.attempts, item.max_attempts) or item.crashes + 1 >= max_crashes:
        return WorkStatus.FAILED
    return WorkStatus.QUEUED


def settled_before(settlement: Settlement, status: WorkStatus) -> Settled:
    """Return the report of a settlement that comes again after it was written.

    Args:
        settlement: What was written.
        status: Where its item stands now, perhaps after more has happened to it.
    """
    was_cancelled = settlement.outcome.status is WorkStatus.QUEUED and status is WorkStatus.CANCELLED
    recorded = WorkStatus.CANCELLED if was_cancelled else settlement.outcome.status
    bundle_id = settlement.bundle_id if recorded in SETTLED_STATUSES else None
    return Settled(item_id=settlement.item_id, status=recorded, settled_bundle_id=bundle_id)


def requeue_stagger(position: int) -> timedelta:
    """Return how much later the item at this position (from 0) of one sweep becomes available.

    So that what one dead worker held does not come back as one burst.
    """
    return min(position * STAGGER_STEP, STAGGER_CAP)


def done(item: WorkItem, result: object, then: Sequence[WorkItem] = ()) -> Settlement:
    """Return the end of a run that succeeded; a result that JSON cannot hold is cleaned, never refused.

    Args:
        item: As it was claimed.
        result: What the handler returned.
        then: Follow-ups, besides those of a `Done`. All are taken as they are: `stamping` checks them.
    """
    answer = result if isinstance(result, Done) else Done(result)
    encoded = None if answer.result is None else storable_json(answer.result, limit_bytes=MAX_RESULT_BYTES)
    if answer.then or then:
        return _settlement(item, Outcome.DONE, result_json=encoded, then=(*answer.then, *then))
    # Nearly every end is this one, and each of these values is of its field's type already.
    own = {"settlement_id": new_id(), "outcome": Outcome.DONE, "result_json": encoded}
    return Settlement.trusted({**_NOTHING_MORE, **_claimed(item), **own})


def unfit(settlement: Settlement, error: PlatformException) -> Settlement:
    """Return the end of a run whose follow-ups cannot be enqueued: a dead letter that names what is wrong."""
    failure = {"outcome": Outcome.FAILED, "last_error": error_text_of(error), "error_code": error_code_of(error)}
    return settlement.model_copy(update=failure | {"then": (), "result_json": None})


def failed(item: WorkItem, error: BaseException | str, *, after: timedelta | None = None) -> Settlement:
    """Return the end of a failed attempt: queued again after a delay, or a dead letter when none is left."""
    code, text = error_code_of(error), error_text_of(error)
    if is_exhausted(item.attempts, item.max_attempts):
        return _settlement(item, Outcome.FAILED, last_error=text, error_code=code)
    delay = _delay_of(item) if after is None else min(max(after, timedelta(0)), LONGEST_DELAY)
    return _settlement(item, Outcome.RETRY, last_error=text, error_code=code, delay=delay)


def refused(item: WorkItem, error: BaseException | str, *, code: str = "refused") -> Settlement:
    """Return the end of an item that no attempt can help: a dead letter at once."""
    return _settlement(item, Outcome.FAILED, last_error=error_text_of(error), error_code=_bounded_code(code))


def orphaned(item: WorkItem) -> Settlement:
    """Return the end of an item that was claimed for a tenant that is gone."""
    return refused(item, TENANT_GONE_ERROR, code="tenant_gone")


def deferred(item: WorkItem, delay: timedelta, reason: str = "") -> Settlement:
    """Return the end of a run that wants to go on later; the attempt is refunded."""
    bounded = min(max(delay, timedelta(0)), LONGEST_DELAY)
    return _settlement(item, Outcome.DEFERRED, delay=bounded, last_error=_note(reason))


def parked(item: WorkItem, reason: str, until: datetime) -> Settlement:
    """Return the end of a run that wants to go on at an instant; the attempt is refunded.

    Raises:
        ValidationFailed: The instant has no time zone.
    """
    try:
        bounded = storable_instant(until)
    except ValueError as error:
        raise ValidationFailed("until", "an instant with a time zone") from error
    return _settlement(item, Outcome.PARKED, until=bounded, last_error=_note(reason))


def released(item: WorkItem, note: str = "") -> Settlement:
    """Return the end of a run that was handed back unfinished; the attempt is refunded."""
    return _settlement(item, Outcome.RELEASED, last_error=_note(note))


def cancelled(item: WorkItem) -> Settlement:
    """Return the end of a run that was cancelled by request."""
    return _settlement(item, Outcome.CANCELLED)


def ended_by(item: WorkItem, error: BaseException) -> Settlement:
    """Return how a run ends by what its handler raised: steered, refused at once, or a failed attempt.

    Never raises, whatever was raised: a handler's odd values become a failed attempt.
    """
    try:
        return _steered(item, error) or failed(item, error)
    except BaseException as odd:  # noqa: BLE001 - what was raised may carry values of any kind, or raise in turn
        return failed(item, odd)


def _steered(item: WorkItem, error: BaseException) -> Settlement | None:
    match error:
        case RetryLater():
            return failed(item, error, after=error.after)
        case Defer():
            return deferred(item, error.delay, str(error))
        case Park():
            return parked(item, str(error), error.until)
        case Refuse():
            return refused(item, error, code=error.code)
        case PlatformException() if isinstance(error, PERMANENT_SHAPES):
            return refused(item, error, code=error.code)
    return None


def error_code_of(error: BaseException | str) -> str:
    """Return a short stable name of an error: its `code` where it has one, else its class."""
    if isinstance(error, str):
        return "failed"
    code = getattr(type(error), "code", None)
    return _bounded_code(code if isinstance(code, str) else type(error).__name__)


def error_text_of(error: BaseException | str) -> str:
    """Return an error as text that can be stored: its class and words, then where it was raised; never raises."""
    if isinstance(error, str):
        return storable_text(error, limit_bytes=MAX_ERROR_BYTES)
    words = storable_text(error, limit_bytes=MAX_ERROR_BYTES // 2)
    head = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return storable_text(f"{head}\n{_frames_of(error)}".rstrip(), limit_bytes=MAX_ERROR_BYTES)


def _frames_of(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__, limit=-10))


def _delay_of(item: WorkItem) -> timedelta:
    """Return the delay by the kind's policy; a custom one that raises falls back to the default, logged."""
    policy = RETRY_POLICIES.get(item.kind, DEFAULT_RETRY_POLICY)
    try:
        return retry_delay(policy, item.attempts, str(item.id))
    except Exception:
        logger.exception("the retry policy of %s raised; the default policy is used", item.kind)
        return retry_delay(DEFAULT_RETRY_POLICY, item.attempts, str(item.id))


def _note(text: str) -> str | None:
    return storable_text(text, limit_bytes=MAX_ERROR_BYTES) if text else None


def _bounded_code(code: str) -> str:
    return storable_text(code, limit_bytes=100) or "failed"


def _settlement(item: WorkItem, outcome: Outcome, **rest: Any) -> Settlement:  # noqa: ANN401 - checked by the model
    return Settlement(**_claimed(item), outcome=outcome, **rest)


_NOTHING_MORE: Final = {"delay": timedelta(0), "until": None, "last_error": None, "error_code": None, "then": ()}


def _claimed(item: WorkItem) -> dict[str, Any]:
    """Return what every settlement says of its item, as it was claimed."""
    if item.claim_token is None:
        raise ValueError(f"item {item.id} carries no claim token: only what a claim returned can be settled")
    return {
        "item_id": item.id,
        "kind": item.kind,
        "lane": item.lane,
        "origin": item.origin,
        "bundle_id": item.bundle_id,
        "has_key": item.has_key,
        "claim_token": item.claim_token,
    }
