"""The memory storage of events keeps the contract."""

import pytest

from headrace.om.events.storage.impl.memory import EventsStorageMemoryImpl
from om.tests.contracts.events_storage import EventsStorageContract


class TestEventsStorageMemory(EventsStorageContract):
    @pytest.fixture
    def storage(self) -> EventsStorageMemoryImpl:
        return EventsStorageMemoryImpl()
