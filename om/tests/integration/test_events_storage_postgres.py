"""The PostgreSQL storage of events keeps the contract."""

import pytest

from headrace.om.events.storage.impl.postgres import EventsStoragePostgresImpl
from headrace.om.storage.database import Database
from om.tests.contracts.events_storage import EventsStorageContract

pytestmark = pytest.mark.servers


class TestEventsStoragePostgres(EventsStorageContract):
    @pytest.fixture
    def storage(self, database: Database) -> EventsStoragePostgresImpl:
        return EventsStoragePostgresImpl(database)
