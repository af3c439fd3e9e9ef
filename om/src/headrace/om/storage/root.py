"""The root of all storages: one getter for each namespace, one implementation over memory, one over PostgreSQL."""

from abc import ABC, abstractmethod

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.events.storage import EventsStorageInterface
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.work.storage import WorkStorageInterface


class StorageInterface(ABC):
    """Where managers get the storage of their namespace; the same object at every call."""

    @abstractmethod
    def get_tenancy_storage(self) -> TenancyStorageInterface:
        """Return the storage of orgs, users, memberships and API keys."""
        ...

    @abstractmethod
    def get_audit_storage(self) -> AuditStorageInterface:
        """Return the storage of audit entries."""
        ...

    @abstractmethod
    def get_events_storage(self) -> EventsStorageInterface:
        """Return the storage of the entity-change feed."""
        ...

    @abstractmethod
    def get_outbox_storage(self) -> OutboxStorageInterface:
        """Return the storage of outbox rows."""
        ...

    @abstractmethod
    def get_work_storage(self) -> WorkStorageInterface:
        """Return the storage of work items."""
        ...

    @abstractmethod
    def get_webhooks_storage(self) -> WebhooksStorageInterface:
        """Return the storage of webhook endpoints and messages."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let go of every connection; safe to call twice."""
        ...

    @abstractmethod
    def describe(self) -> str:
        """Return one line for the log that names the backend, without secrets."""
        ...
