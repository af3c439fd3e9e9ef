"""The storage root over PostgreSQL."""

from typing import override

from headrace.om.audit.storage.impl.postgres import AuditStoragePostgresImpl
from headrace.om.events.storage.impl.postgres import EventsStoragePostgresImpl
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database
from headrace.om.storage.impl.parts import StorageOfParts, StorageParts
from headrace.om.tenancy.storage.impl.postgres import TenancyStoragePostgresImpl
from headrace.om.webhooks.storage.impl.postgres import WebhooksStoragePostgresImpl
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl


class StoragePostgresImpl(StorageOfParts):
    """Every namespace over one `Database`, which this root closes.

    Args:
        database: The engines.
        fair_share: Whether claims go round the orgs, for items that are enqueued through this root.
    """

    def __init__(self, database: Database, *, fair_share: bool = True) -> None:
        self._database = database
        super().__init__(
            StorageParts(
                tenancy=TenancyStoragePostgresImpl(database),
                audit=AuditStoragePostgresImpl(database),
                events=EventsStoragePostgresImpl(database),
                outbox=OutboxStoragePostgresImpl(database),
                work=WorkStoragePostgresImpl(database, fair_share=fair_share),
                webhooks=WebhooksStoragePostgresImpl(database),
            )
        )

    @override
    async def close(self) -> None:
        await self._database.close()

    @override
    def describe(self) -> str:
        return self._database.describe()
