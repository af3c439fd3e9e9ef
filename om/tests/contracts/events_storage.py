"""What every storage of events does."""

from uuid import UUID

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.events.storage import EventsStorageInterface
from headrace.om.events.types.event import Event
from headrace.om.storage.outcomes import InsertOutcome

ORG = UUID("0199a000-0000-7000-8000-000000000001")
OTHER = UUID("0199a000-0000-7000-8000-000000000002")


def event(**changes: object) -> Event:
    fields = {"entity": "org", "entity_id": new_id(), "change": "created", "request_id": new_id()}
    return Event.model_validate(fields | changes)


class EventsStorageContract:
    """Subclasses give the fixture `storage`, an empty one."""

    async def test_an_event_comes_back_as_it_was_when_read(self, storage: EventsStorageInterface) -> None:
        happened = event(created_by=new_id())
        assert await storage.create_event(ORG, happened) is InsertOutcome.INSERTED
        assert await storage.read_events(ORG, 10) == (happened,)

    async def test_the_first_event_stays_when_its_id_is_created_again(self, storage: EventsStorageInterface) -> None:
        happened = event()
        await storage.create_event(ORG, happened)
        again = happened.with_changes(change="deleted")
        assert await storage.create_event(ORG, again) is InsertOutcome.ID_EXISTS
        assert await storage.create_event(ORG, happened) is InsertOutcome.ID_EXISTS
        assert await storage.read_events(ORG, 10) == (happened,)

    async def test_another_tenants_event_is_neither_found_nor_changed(self, storage: EventsStorageInterface) -> None:
        theirs = event()
        await storage.create_event(OTHER, theirs)
        assert await storage.read_events(ORG, 10) == ()
        ours = theirs.with_changes(change="deleted")
        assert await storage.create_event(ORG, ours) is InsertOutcome.INSERTED
        assert await storage.read_events(ORG, 10) == (ours,)
        assert await storage.read_events(OTHER, 10) == (theirs,)

    async def test_the_platforms_own_events_are_its_own(self, storage: EventsStorageInterface) -> None:
        happened = event()
        await storage.create_event(EMPTY_UUID, happened)
        await storage.create_event(ORG, event())
        assert await storage.read_events(EMPTY_UUID, 10) == (happened,)

    async def test_the_oldest_events_come_first_in_pages(self, storage: EventsStorageInterface) -> None:
        feed = sorted((event() for _ in range(3)), key=lambda each: each.id)
        for each in (feed[1], feed[2], feed[0]):
            await storage.create_event(ORG, each)
        assert await storage.read_events(ORG, 2) == tuple(feed[:2])
        assert await storage.read_events(ORG, 2, feed[1].id) == (feed[2],)
