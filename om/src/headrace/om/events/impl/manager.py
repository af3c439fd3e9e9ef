"""The events manager."""

from typing import override
from uuid import UUID

from headrace.om.context import OpContext, Permission
from headrace.om.events.manager import EventsManagerInterface
from headrace.om.events.rules import event_of
from headrace.om.events.storage import EventsStorageInterface
from headrace.om.events.types.event import Event
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.paging import checked_limit


class EventsManagerImpl(EventsManagerInterface):
    """The event feed over any storage."""

    def __init__(self, storage: EventsStorageInterface) -> None:
        self._storage = storage

    @override
    async def append_relayed(self, org_id: UUID, row: OutboxRow) -> Event:
        event = event_of(row)
        # Appended before or now: the same row makes the same event.
        await self._storage.create_event(org_id, event)
        return event

    @override
    async def get_events(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[Event, ...]:
        ctx.require(Permission.EVENTS_READ)
        return await self._storage.read_events(ctx.org_id, checked_limit(limit), after)
