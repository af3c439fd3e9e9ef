"""What every item is made into before it is written: checked as a whole, its manager's fields fresh."""

from typing import Any, Final

from headrace.om.base import Platform
from headrace.om.context import OpContext
from headrace.om.encoding import encode_json, refuse_unstorable_instant, refuse_unstorable_text
from headrace.om.exceptions import ValidationFailed
from headrace.om.work import bundling, scheduling
from headrace.om.work.payload import checked_payload, refuse_unknown_fields
from headrace.om.work.rules import AS_NEW, max_attempts_of, unique_hash
from headrace.om.work.types.settlement import Settlement
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES, WorkItem

MAX_FOLLOW_UPS: Final = 100
"""Items that follow from one settlement; more of them are a bundle's, or a bulk enqueue's, work."""

RESERVED_PREFIXES: Final = (bundling.KEY_PREFIX, scheduling.KEY_PREFIX)
"""What the idempotency keys begin with that the queue itself makes."""


def stamped(ctx: OpContext, item: WorkItem, *, at: str = "") -> WorkItem:
    """Return the item as the manager writes it: its own fields fresh, the actor and the request from the context.

    The id and the timestamps stay as constructed.

    Raises:
        ValidationFailed: A field or the payload does not fit; the field is named from `at` on.
    """
    _refuse_reserved_key(item, at)
    actor = {"created_by": ctx.user_id, "updated_by": ctx.user_id}
    cause = {"request_id": ctx.request_id, "traceparent": ctx.traceparent}
    return fresh(item, at=at, **actor, **cause)


def fresh(item: WorkItem, *, at: str = "", **changes: object) -> WorkItem:
    """Return the item as one that nothing has happened to yet, whatever the caller put into the manager's fields.

    Args:
        item: As the caller made it.
        at: What stands before the field's name in a sentence.
        changes: Fields that are set besides, unchecked.

    Raises:
        ValidationFailed: As for `stamped`.
    """
    payload = _fitting_payload(item, at)
    hashed = None if item.unique_for is None else _hash_of(item, payload, at)
    own = {"bundle_id": None, "unique_hash": hashed, "max_attempts": max_attempts_of(item)}
    return item.model_copy(update={**AS_NEW, **own, **changes})


def with_follow_ups_stamped(ctx: OpContext, settlement: Settlement) -> Settlement:
    """Return the settlement with its follow-ups as they are written.

    Raises:
        ValidationFailed: One does not fit, named as `then[3].payload.x`, or there are too many.
    """
    if not settlement.then:
        return settlement
    if len(settlement.then) > MAX_FOLLOW_UPS:
        raise ValidationFailed("then", f"at most {MAX_FOLLOW_UPS} items, got {len(settlement.then)}")
    items = tuple(stamped(ctx, item, at=f"then[{place}].") for place, item in enumerate(settlement.then))
    return settlement.model_copy(update={"then": items})


def _refuse_reserved_key(item: WorkItem, at: str) -> None:
    """Refuse a key under which the queue would find its own item there already, and leave it out."""
    if (item.idempotency_key or "").startswith(RESERVED_PREFIXES):
        reserved = " or ".join(RESERVED_PREFIXES)
        expected = f"a key that does not begin with {reserved}, as those of the queue's own items do"
        raise ValidationFailed(f"{at}idempotency_key", f"{expected}, got {item.idempotency_key!r}")


def _fitting_payload(item: WorkItem, at: str) -> Platform:
    """Return the payload in its kind's model when the item's texts, instants and payload can be stored.

    Raises:
        ValidationFailed: They cannot; the sentence names the field.
    """
    for field in ("origin", "lane", "idempotency_key", "concurrency_key", "ordering_key"):
        if (value := getattr(item, field)) is not None:
            refuse_unstorable_text(f"{at}{field}", value)
    for field in ("available_at", "created_at", "updated_at"):
        if (instant := getattr(item, field)) is not None:
            refuse_unstorable_instant(f"{at}{field}", instant)
    payload = checked_payload(item, at=at)
    # The storage encodes it again: there, nobody knows the item's place among many.
    encode_json(f"{at}payload", item.payload, limit_bytes=MAX_PAYLOAD_BYTES)
    return payload


def _hash_of(item: WorkItem, payload: Platform, at: str) -> Any:  # noqa: ANN401 - a digest, or nothing to make one of
    wanted = item.unique_for or ()
    refuse_unknown_fields(item.kind, wanted, at=at)
    # The model's own values: a field that is left out agrees with one that says its default.
    return unique_hash(item.kind, payload.model_dump(mode="json", include=set(wanted)))
