"""The work storage's contract behind a transaction pooler with two server connections."""

import pytest

from headrace.om.storage.database import Database
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from om.tests.contracts.work_storage import WorkStorageContract

pytestmark = [pytest.mark.servers, pytest.mark.pooler]


class TestWorkStorageBehindPooler(WorkStorageContract):
    @pytest.fixture
    def storage(self, pooled_database: Database) -> WorkStorageInterface:
        return WorkStoragePostgresImpl(pooled_database)

    @pytest.fixture
    def unfair(self, pooled_database: Database) -> WorkStorageInterface:
        return WorkStoragePostgresImpl(pooled_database, fair_share=False)
