"""The work storage's contract over PostgreSQL."""

import pytest

from headrace.om.storage.database import Database
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from om.tests.contracts.work_storage import WorkStorageContract

pytestmark = pytest.mark.servers


class TestWorkStoragePostgres(WorkStorageContract):
    @pytest.fixture
    def storage(self, database: Database) -> WorkStorageInterface:
        return WorkStoragePostgresImpl(database)

    @pytest.fixture
    def unfair(self, database: Database) -> WorkStorageInterface:
        return WorkStoragePostgresImpl(database, fair_share=False)
