"""The storage root over PostgreSQL."""

from typing import override

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.storage.impl.postgres import AuditStoragePostgresImpl
from headrace.om.events.storage import EventsStorageInterface
from headrace.om.events.storage.impl.postgres import EventsStoragePostgresImpl
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database
from headrace.om.storage.root import StorageInterface
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.storage.impl.postgres import TenancyStoragePostgresImpl
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.webhooks.storage.impl.postgres import WebhooksStoragePostgresImpl
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl


class StoragePostgresImpl(StorageInterface):
    """Every namespace over one `Database`, which this root closes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tenancy = TenancyStoragePostgresImpl(database)
        self._audit = AuditStoragePostgresImpl(database)
        self._events = EventsStoragePostgresImpl(database)
        self._outbox = OutboxStoragePostgresImpl(database)
        self._work = WorkStoragePostgresImpl(database)
        self._webhooks = WebhooksStoragePostgresImpl(database)

    @override
    def get_tenancy_storage(self) -> TenancyStorageInterface:
        return self._tenancy

    @override
    def get_audit_storage(self) -> AuditStorageInterface:
        return self._audit

    @override
    def get_events_storage(self) -> EventsStorageInterface:
        return self._events

    @override
    def get_outbox_storage(self) -> OutboxStorageInterface:
        return self._outbox

    @override
    def get_work_storage(self) -> WorkStorageInterface:
        return self._work

    @override
    def get_webhooks_storage(self) -> WebhooksStorageInterface:
        return self._webhooks

    @override
    async def close(self) -> None:
        await self._database.close()

    @override
    def describe(self) -> str:
        return self._database.describe()
