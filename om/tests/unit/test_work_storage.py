"""The work storage's contract over memory."""

import pytest

from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl
from om.tests.contracts.work_storage import WorkStorageContract


class TestWorkStorageMemory(WorkStorageContract):
    @pytest.fixture
    def storage(self) -> WorkStorageInterface:
        return WorkStorageMemoryImpl()

    @pytest.fixture
    def unfair(self) -> WorkStorageInterface:
        return WorkStorageMemoryImpl(fair_share=False)
