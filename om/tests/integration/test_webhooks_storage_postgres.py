"""The webhooks storage contract over PostgreSQL."""

import pytest

from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database
from headrace.om.webhooks.storage.impl.postgres import WebhooksStoragePostgresImpl
from om.tests.contracts.webhooks_storage import WebhooksStorageContract


@pytest.mark.servers
class TestWebhooksStoragePostgres(WebhooksStorageContract):
    @pytest.fixture
    def outbox(self, database: Database) -> OutboxStoragePostgresImpl:
        return OutboxStoragePostgresImpl(database)

    @pytest.fixture
    def webhooks(self, database: Database) -> WebhooksStoragePostgresImpl:
        return WebhooksStoragePostgresImpl(database)
