"""Events over PostgreSQL."""

from typing import Final, override
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from headrace.om.events.storage import EventsStorageInterface
from headrace.om.events.storage.tables import EventRow
from headrace.om.events.types.event import Event
from headrace.om.storage.database import Database
from headrace.om.storage.outcomes import InsertOutcome

_FIELDS: Final = tuple(Event.model_fields)


class EventsStoragePostgresImpl(EventsStorageInterface):
    """Events in `activity.events`, on which no login may update or delete."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def create_event(self, org_id: UUID, event: Event) -> InsertOutcome:
        statement = (
            insert(EventRow)
            .values(org_id=org_id, **{name: getattr(event, name) for name in _FIELDS})
            .on_conflict_do_nothing(index_elements=["org_id", "id"])
            .returning(EventRow.id)
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            inserted = await session.scalar(statement)
        return InsertOutcome.ID_EXISTS if inserted is None else InsertOutcome.INSERTED

    @override
    async def read_events(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[Event, ...]:
        statement = select(EventRow).where(EventRow.org_id == org_id).order_by(EventRow.id).limit(limit)
        if after is not None:
            statement = statement.where(EventRow.id > after)
        async with self._database.session_for(statement, org_id=org_id) as session:
            return tuple(_event(row) for row in await session.scalars(statement))


def _event(row: EventRow) -> Event:
    return Event.model_validate({name: getattr(row, name) for name in _FIELDS})
