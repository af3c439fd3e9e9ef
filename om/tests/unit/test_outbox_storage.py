"""The memory storage of outbox rows keeps the contract."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.outbox.types.outbox_row import UnreadableRow
from om.tests.contracts.outbox_storage import ORG, OutboxStorageContract, PassTime, Plant, outbox_row


class _HandClock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    async def pass_time(self, duration: timedelta) -> None:
        self.now += duration


class TestOutboxStorageMemory(OutboxStorageContract):
    @pytest.fixture
    def clock(self) -> _HandClock:
        return _HandClock()

    @pytest.fixture
    def storage(self, clock: _HandClock) -> OutboxStorageMemoryImpl:
        return OutboxStorageMemoryImpl(clock)

    @pytest.fixture
    def pass_time(self, clock: _HandClock) -> PassTime:
        return clock.pass_time

    @pytest.fixture
    def plant_unreadable(self, storage: OutboxStorageMemoryImpl) -> Plant:
        async def plant(org_id: UUID) -> UUID:
            row = UnreadableRow(id=new_id(), kind="entity.changed", error="planted")
            storage.add(org_id, [row])
            return row.id

        return plant

    async def test_rows_are_due_when_another_namespace_added_them(self, storage: OutboxStorageMemoryImpl) -> None:
        row = outbox_row()
        storage.add(ORG, [row])
        storage.add(ORG, [row])
        assert await storage.take_pending(10, timedelta(seconds=1)) == ((ORG, row),)
