"""What both storage roots are: the namespaces' storages, handed out by getter."""

from abc import ABC
from dataclasses import dataclass
from typing import override

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.events.storage import EventsStorageInterface
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.storage.root import StorageInterface
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.work.storage import WorkStorageInterface


@dataclass(frozen=True, slots=True)
class StorageParts:
    """One storage of each namespace, all over the same backend."""

    tenancy: TenancyStorageInterface
    audit: AuditStorageInterface
    events: EventsStorageInterface
    outbox: OutboxStorageInterface
    work: WorkStorageInterface
    webhooks: WebhooksStorageInterface


class StorageOfParts(StorageInterface, ABC):
    """A storage root that hands out its parts."""

    def __init__(self, parts: StorageParts) -> None:
        self._parts = parts

    @override
    def get_tenancy_storage(self) -> TenancyStorageInterface:
        return self._parts.tenancy

    @override
    def get_audit_storage(self) -> AuditStorageInterface:
        return self._parts.audit

    @override
    def get_events_storage(self) -> EventsStorageInterface:
        return self._parts.events

    @override
    def get_outbox_storage(self) -> OutboxStorageInterface:
        return self._parts.outbox

    @override
    def get_work_storage(self) -> WorkStorageInterface:
        return self._parts.work

    @override
    def get_webhooks_storage(self) -> WebhooksStorageInterface:
        return self._parts.webhooks
