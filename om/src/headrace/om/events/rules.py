"""How an outbox row becomes an event."""

from typing import Final

from pydantic import ValidationError

from headrace.om.events.types.event import Event
from headrace.om.exceptions import ValidationFailed
from headrace.om.outbox.types.outbox_row import ENTITY_CHANGED_KIND, OutboxRow

_PAYLOAD_FIELDS: Final = frozenset({"entity", "entity_id", "change"})


def event_of(row: OutboxRow) -> Event:
    """Return the event that a row asks for; the same one every time.

    Raises:
        ValidationFailed: The row is of another kind, or its payload is no entity change.
    """
    if row.kind != ENTITY_CHANGED_KIND:
        raise ValidationFailed("kind", f"{ENTITY_CHANGED_KIND}, got {row.kind}")
    origin = {
        "id": row.id,
        "created_at": row.created_at,
        "created_by": row.actor_id,
        "request_id": row.request_id,
    }
    said = {name: value for name, value in row.payload.items() if name in _PAYLOAD_FIELDS}
    try:
        return Event.model_validate(said | origin)
    except ValidationError as error:
        field = error.errors(include_url=False, include_input=False)[0]["loc"][0]
        raise ValidationFailed(f"payload.{field}", "an entity change with entity, entity_id and change") from error
