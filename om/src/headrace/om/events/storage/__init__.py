"""Where events are kept."""

from abc import ABC, abstractmethod
from uuid import UUID

from headrace.om.events.types.event import Event
from headrace.om.storage.outcomes import InsertOutcome


class EventsStorageInterface(ABC):
    """Events of one tenant at a time; each method is one statement. Nothing changes or removes an event."""

    @abstractmethod
    async def create_event(self, org_id: UUID, event: Event) -> InsertOutcome:
        """Insert an event; ID_EXISTS where the tenant has one with this id, which stays as it is.

        Another tenant's event with the same id is no obstacle and is not touched.
        """
        ...

    @abstractmethod
    async def read_events(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[Event, ...]:
        """Return at most `limit` of the tenant's events in the order of their ids, beginning behind `after`."""
        ...
