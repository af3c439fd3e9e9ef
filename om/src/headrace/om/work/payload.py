"""A work item's payload in the shape of its kind: checked when it is enqueued and again when it is handled."""

from collections.abc import Sequence

from pydantic import ValidationError

from headrace.om.exceptions import ValidationFailed
from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payload_models import WORK_PAYLOADS
from headrace.om.work.types.work_item import WorkItem
from headrace.om.work.types.work_payload import WorkPayload


def checked_payload(item: WorkItem, *, at: str = "") -> WorkPayload:
    """Return the item's payload in its kind's own model.

    Args:
        item: The item.
        at: What stands before the field's name in a sentence, such as `items[3].`.

    Raises:
        WorkPayloadRefused: It does not fit, or no longer, or nothing is known of the kind; the sentence names the
            field.
    """
    model = WORK_PAYLOADS.get(item.kind)
    if model is None:
        raise WorkPayloadRefused(f"{at}kind", f"a kind that this release knows, got {item.kind}")
    return payload_of(model, item, at=at)


def payload_of[PayloadT: WorkPayload](model: type[PayloadT], item: WorkItem, *, at: str = "") -> PayloadT:
    """Return the item's payload in a model that the caller names, for a handler: it knows its kind.

    Args:
        model: The payload model of the item's kind.
        item: The item.
        at: As for `checked_payload`.

    Raises:
        WorkPayloadRefused: As for `checked_payload`.
    """
    try:
        return model.model_validate(item.payload.thawed())
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = ".".join(("payload", *(str(part) for part in first["loc"])))
        raise WorkPayloadRefused(f"{at}{path}", f"a payload of {item.kind} ({first['msg']})") from error


def refuse_unknown_fields(kind: WorkKind, unique_for: Sequence[str], *, at: str = "") -> None:
    """Return when a payload of the kind has every field that an item is to be unique for.

    Raises:
        ValidationFailed: It has not; the sentence names the first that it lacks.
    """
    known = WORK_PAYLOADS[kind].model_fields
    if odd := [name for name in unique_for if name not in known]:
        raise ValidationFailed(f"{at}unique_for", f"fields of a payload of {kind}, got {odd[0]!r}")
