"""The outbox rows that core writes land: one for an entity change, one for work that follows."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from headrace.om.base import FrozenMapping, Platform, utcnow
from headrace.om.context import ProvenanceScope
from headrace.om.encoding import encode_json, refuse_unstorable_instant, refuse_unstorable_text
from headrace.om.exceptions import ValidationFailed
from headrace.om.outbox.types.outbox_row import ENTITY_CHANGED_KIND, WORK_KIND_PREFIX, OutboxRow
from headrace.om.outbox.types.row_payloads import EntityChange, WorkRequest
from headrace.om.work.payload import refuse_unknown_fields
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payload_models import WORK_PAYLOADS
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES

_AT: Final = "payload"


def entity_row(ctx: ProvenanceScope, entity: str, entity_id: UUID, change: str) -> OutboxRow:
    """Return the row that says that a record was written, for the same transaction as the write.

    Args:
        ctx: Who wrote it, on which request.
        entity: The record's type; 1-100 characters.
        entity_id: The record.
        change: What happened to it, such as `created`; 1-100 characters.

    Raises:
        ValidationFailed: A word does not fit.
    """
    fields = {"entity": entity, "entity_id": entity_id, "change": change}
    return _row(ctx, ENTITY_CHANGED_KIND, _checked(EntityChange, fields, ""))


def work_row(  # noqa: PLR0913 - the fields of a work item that a caller may choose
    ctx: ProvenanceScope,
    kind: WorkKind,
    payload: Platform | Mapping[str, Any],
    *,
    origin: str,
    lane: str = "default",
    target_id: UUID | None = None,
    priority: int = 0,
    available_at: datetime | None = None,
    delay: timedelta | None = None,
    max_attempts: int | None = None,
    unique_for: Sequence[str] | None = None,
    concurrency_key: str | None = None,
    ordering_key: str | None = None,
) -> OutboxRow:
    """Return the row that enqueues work once the transaction it is landed in has committed.

    The item's idempotency key is the row's id, so the work is enqueued once however often the row is relayed.

    Args:
        ctx: Who asks, on which request; the item is attributed to them.
        kind: What to do.
        payload: What to do it with, in the shape of the kind; at most 256 KiB as JSON.
        origin: Who asked, for operators; 1-100 characters.
        lane: Which workers; 1-100 characters.
        target_id: The record that the work advances.
        priority: -32768 to 32767, higher first.
        available_at: Not before this instant; at once when None.
        delay: Instead of `available_at`: this much later than now on the caller's clock.
        max_attempts: 1-10000; the default of work items when None.
        unique_for: Fields of the payload: while an item of the kind that agrees in them has not settled, the row
            enqueues nothing. Never unique when None.
        concurrency_key: Of one key of the org, only so many items run at once; 1-200 characters.
        ordering_key: Items of one key of the org run one at a time, in order; 1-200 characters, and no other key.

    Raises:
        ValidationFailed: A value does not fit, named by its field; a row that is returned will be accepted later.
    """
    fields = {
        "origin": origin,
        "lane": lane,
        "target_id": target_id,
        "priority": priority,
        "available_at": _due_at(available_at, delay),
        "max_attempts": max_attempts,
        "unique_for": None if unique_for is None else tuple(unique_for),
        "concurrency_key": concurrency_key,
        "ordering_key": ordering_key,
        "payload": _checked_payload(kind, payload),
    }
    texts = {"origin": origin, "lane": lane, "concurrency_key": concurrency_key, "ordering_key": ordering_key}
    for name, text in texts.items():
        if text is not None:
            refuse_unstorable_text(name, text)
    if concurrency_key is not None and ordering_key is not None:
        raise ValidationFailed("ordering_key", "none beside concurrency_key: items in order run one at a time anyway")
    refuse_unknown_fields(kind, unique_for or ())
    request = _checked(WorkRequest, fields, "")
    if request.available_at is not None:
        refuse_unstorable_instant("delay" if available_at is None else "available_at", request.available_at)
    return _row(ctx, f"{WORK_KIND_PREFIX}{kind}", request)


def _due_at(available_at: datetime | None, delay: timedelta | None) -> datetime | None:
    if available_at is not None or delay is None:
        return available_at
    try:
        return utcnow() + delay
    except OverflowError as error:
        raise ValidationFailed("delay", f"a duration that ends within the calendar, got {delay}") from error


def _checked_payload(kind: WorkKind, payload: Platform | Mapping[str, Any]) -> dict[str, Any]:
    plain = payload.model_dump(mode="json") if isinstance(payload, Platform) else dict(payload)
    encoded = _checked(WORK_PAYLOADS[kind], plain, f"{_AT}.").model_dump(mode="json")
    encode_json(_AT, encoded, limit_bytes=MAX_PAYLOAD_BYTES)
    return encoded


def _checked[Model: Platform](model: type[Model], fields: Mapping[str, Any], prefix: str) -> Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ValidationFailed(f"{prefix}{field}", f"something else ({first['msg']})") from error


def _row(ctx: ProvenanceScope, kind: str, payload: Platform) -> OutboxRow:
    return OutboxRow(
        kind=kind,
        payload=FrozenMapping(payload.model_dump(mode="json")),
        actor_id=ctx.user_id,
        request_id=ctx.request_id,
        traceparent=ctx.traceparent,
    )
