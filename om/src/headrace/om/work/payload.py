"""A work item's payload in the shape of its kind: checked when it is enqueued and again when it is handled."""

from pydantic import ValidationError

from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.types.payload_models import WORK_PAYLOADS
from headrace.om.work.types.work_item import WorkItem
from headrace.om.work.types.work_payload import WorkPayload


def checked_payload(item: WorkItem, *, at: str = "") -> WorkPayload:
    """Return the item's payload in its kind's own model.

    Args:
        item: The item.
        at: What stands before the field's name in a sentence, such as `items[3].`.

    Raises:
        WorkPayloadRefused: It does not fit, or no longer; the sentence names the field.
    """
    return payload_of(WORK_PAYLOADS[item.kind], item, at=at)


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
