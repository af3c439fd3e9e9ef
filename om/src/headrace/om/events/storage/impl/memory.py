"""Events in this process's memory."""

from typing import override
from uuid import UUID

from headrace.om.events.storage import EventsStorageInterface
from headrace.om.events.types.event import Event
from headrace.om.storage.outcomes import InsertOutcome


class EventsStorageMemoryImpl(EventsStorageInterface):
    """One dictionary. No method awaits anything, so each is atomic within its event loop."""

    def __init__(self) -> None:
        self._events: dict[tuple[UUID, UUID], Event] = {}

    @override
    async def create_event(self, org_id: UUID, event: Event) -> InsertOutcome:
        if (org_id, event.id) in self._events:
            return InsertOutcome.ID_EXISTS
        self._events[org_id, event.id] = event
        return InsertOutcome.INSERTED

    @override
    async def read_events(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[Event, ...]:
        own = (event for (owner_id, _), event in self._events.items() if owner_id == org_id)
        behind = [event for event in own if after is None or event.id > after]
        return tuple(sorted(behind, key=lambda event: event.id)[:limit])
