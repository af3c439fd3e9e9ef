"""The storage root over memory: the tests' fake, under the same contracts as PostgreSQL."""

from typing import override

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.storage.impl.memory import AuditStorageMemoryImpl
from headrace.om.events.storage import EventsStorageInterface
from headrace.om.events.storage.impl.memory import EventsStorageMemoryImpl
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.storage.clock import Clock, wall_clock
from headrace.om.storage.root import StorageInterface
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.storage.impl.memory import TenancyStorageMemoryImpl
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.webhooks.storage.impl.memory import WebhooksStorageMemoryImpl
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl


class StorageMemoryImpl(StorageInterface):
    """Every namespace over tables in this process; one clock stands for the database's.

    Core writes of tenancy and webhooks land their outbox rows in the outbox table of the same root.
    """

    def __init__(self, clock: Clock = wall_clock) -> None:
        self._outbox = OutboxStorageMemoryImpl(clock)
        self._webhooks = WebhooksStorageMemoryImpl(self._outbox, clock)
        self._tenancy = TenancyStorageMemoryImpl(self._outbox, clock, [self._webhooks.holds])
        self._audit = AuditStorageMemoryImpl()
        self._events = EventsStorageMemoryImpl()
        self._work = WorkStorageMemoryImpl(clock)

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
        """Nothing is open."""

    @override
    def describe(self) -> str:
        return "memory"
