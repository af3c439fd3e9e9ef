"""What the event feed promises."""

from abc import ABC, abstractmethod
from uuid import UUID

from headrace.om.context import OpContext
from headrace.om.events.types.event import Event
from headrace.om.outbox.types.outbox_row import OutboxRow


class EventsManagerInterface(ABC):
    """A tenant's feed of changes: appended to by the outbox relay alone, read by its members."""

    @abstractmethod
    async def append_relayed(self, org_id: UUID, row: OutboxRow) -> Event:
        """Append the event that an `entity.changed` row asks for; the relay's call.

        An operation without a principal: who changed what, and on which request, stands in the row. The
        event's id is the row's, so relaying a row twice leaves one event.

        Raises:
            ValidationFailed: The row is of another kind, or its payload is no entity change.
            Unavailable: The database did not take it; it may be appended again.
        """
        ...

    @abstractmethod
    async def get_events(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[Event, ...]:
        """Return events in the order in which the changes were written, oldest first. Permission: EVENTS_READ.

        At least once for a reader who overlaps: an event takes its place by when the change was written and
        appears when it is relayed, usually milliseconds later and after an outage minutes later. Who must
        miss nothing goes back a while behind the newest id and drops the ids known already.

        Args:
            ctx: Whose feed.
            limit: 1 to 1000.
            after: The id of the event after which to go on; None starts at the oldest.

        Raises:
            NotAuthorized: The context lacks the permission.
            ValidationFailed: The limit is out of range.
        """
        ...
