"""The webhooks storage contract over memory."""

import pytest

from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.storage.clock import wall_clock
from headrace.om.webhooks.storage.impl.memory import WebhooksStorageMemoryImpl
from om.tests.contracts.webhooks_storage import WebhooksStorageContract


class TestWebhooksStorageMemory(WebhooksStorageContract):
    @pytest.fixture
    def outbox(self) -> OutboxStorageMemoryImpl:
        return OutboxStorageMemoryImpl(wall_clock)

    @pytest.fixture
    def webhooks(self, outbox: OutboxStorageMemoryImpl) -> WebhooksStorageMemoryImpl:
        return WebhooksStorageMemoryImpl(outbox, wall_clock)
