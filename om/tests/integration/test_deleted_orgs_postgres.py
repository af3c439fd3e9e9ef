"""What keeps a deleted org from being removed, over PostgreSQL."""

import pytest

from headrace.om.storage.root import StorageInterface
from om.tests.contracts.deleted_orgs import DeletedOrgContract

pytestmark = pytest.mark.servers


class TestDeletedOrgsPostgres(DeletedOrgContract):
    @pytest.fixture
    def storage(self, postgres_storage: StorageInterface) -> StorageInterface:
        return postgres_storage
