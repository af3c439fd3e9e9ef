"""The storage root over memory: the tests' fake, under the same contracts as PostgreSQL."""

from typing import override

from headrace.om.audit.storage.impl.memory import AuditStorageMemoryImpl
from headrace.om.events.storage.impl.memory import EventsStorageMemoryImpl
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.storage.clock import Clock, wall_clock
from headrace.om.storage.impl.parts import StorageOfParts, StorageParts
from headrace.om.tenancy.storage.impl.memory import TenancyStorageMemoryImpl
from headrace.om.webhooks.storage.impl.memory import WebhooksStorageMemoryImpl
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl


class StorageMemoryImpl(StorageOfParts):
    """Every namespace over tables in this process; one clock stands for the database's.

    Core writes of tenancy and webhooks land their outbox rows in the outbox table of the same root.
    """

    def __init__(self, clock: Clock = wall_clock, *, fair_share: bool = True) -> None:
        outbox = OutboxStorageMemoryImpl(clock)
        webhooks = WebhooksStorageMemoryImpl(outbox, clock)
        super().__init__(
            StorageParts(
                tenancy=TenancyStorageMemoryImpl(outbox, clock, [webhooks.holds]),
                audit=AuditStorageMemoryImpl(),
                events=EventsStorageMemoryImpl(),
                outbox=outbox,
                work=WorkStorageMemoryImpl(clock, fair_share=fair_share),
                webhooks=webhooks,
            )
        )

    @override
    async def close(self) -> None:
        """Nothing is open."""

    @override
    def describe(self) -> str:
        return "memory"
