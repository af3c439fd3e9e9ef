"""The memory storage of audit keeps the contract."""

import pytest

from headrace.om.audit.storage.impl.memory import AuditStorageMemoryImpl
from om.tests.contracts.audit_storage import AuditStorageContract


class TestAuditStorageMemory(AuditStorageContract):
    @pytest.fixture
    def storage(self) -> AuditStorageMemoryImpl:
        return AuditStorageMemoryImpl()
