"""What keeps a deleted org from being removed, over memory."""

import pytest

from headrace.om.storage.root import StorageInterface
from om.tests.contracts.deleted_orgs import DeletedOrgContract


class TestDeletedOrgsMemory(DeletedOrgContract):
    @pytest.fixture
    def storage(self, memory_storage: StorageInterface) -> StorageInterface:
        return memory_storage
