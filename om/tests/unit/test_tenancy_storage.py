"""The memory storage of tenancy keeps the contract."""

import pytest

from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.storage.clock import wall_clock
from headrace.om.tenancy.storage.impl.memory import TenancyStorageMemoryImpl
from om.tests.contracts.tenancy_keys_storage import TenancyKeysStorageContract
from om.tests.contracts.tenancy_purging import TenancyPurgingContract
from om.tests.contracts.tenancy_storage import TenancyStorageContract


class TestTenancyStorageMemory(TenancyStorageContract, TenancyKeysStorageContract, TenancyPurgingContract):
    @pytest.fixture
    def outbox(self) -> OutboxStorageMemoryImpl:
        return OutboxStorageMemoryImpl()

    @pytest.fixture
    def storage(self, outbox: OutboxStorageMemoryImpl) -> TenancyStorageMemoryImpl:
        return TenancyStorageMemoryImpl(outbox, wall_clock)
