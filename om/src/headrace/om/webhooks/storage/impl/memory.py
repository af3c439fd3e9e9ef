"""Webhook endpoints and messages over tables in this process."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import override
from uuid import UUID

from headrace.om.base import EMPTY_UUID
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.clock import Clock
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.webhooks.types.delivery import FailureCount
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import WebhookMessage, WebhookMessageHead

type _Key = tuple[UUID, UUID]


class WebhooksStorageMemoryImpl(WebhooksStorageInterface):
    """Two dicts by tenant and id. No method awaits anything, so each is atomic among the tasks of a loop.

    Args:
        outbox: Where the rows of a write land.
        clock: Stands for the database's.
    """

    def __init__(self, outbox: OutboxStorageMemoryImpl, clock: Clock) -> None:
        self._outbox = outbox
        self._clock = clock
        self._endpoints: dict[_Key, WebhookEndpoint] = {}
        self._messages: dict[_Key, WebhookMessage] = {}
        self._recorded_at: dict[_Key, datetime] = {}

    @override
    async def create_endpoint(
        self, org_id: UUID, endpoint: WebhookEndpoint, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        return self._create(self._endpoints, org_id, endpoint, rows)

    @override
    async def count_endpoints(self, org_id: UUID) -> int:
        return len(self._endpoints_of(org_id))

    @override
    async def read_endpoint(self, org_id: UUID, endpoint_id: UUID) -> WebhookEndpoint | None:
        return self._endpoints.get((org_id, endpoint_id))

    @override
    async def read_endpoints(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[WebhookEndpoint, ...]:
        return tuple(each for each in self._endpoints_of(org_id) if after is None or each.id > after)[:limit]

    @override
    async def read_endpoints_wanting(self, org_id: UUID, event_type: str, limit: int) -> tuple[WebhookEndpoint, ...]:
        return tuple(each for each in self._endpoints_of(org_id) if each.wants(event_type))[:limit]

    @override
    async def write_endpoint(
        self, org_id: UUID, endpoint: WebhookEndpoint, expected_version: int, rows: Sequence[OutboxRow]
    ) -> bool:
        stored = self._at(org_id, endpoint.id, expected_version)
        if stored is None:
            return False
        self._outbox.add(org_id, rows)
        kept = {"created_at": stored.created_at, "created_by": stored.created_by}
        self._endpoints[org_id, endpoint.id] = endpoint.with_changes(**kept)
        return True

    @override
    async def count_failure(self, org_id: UUID, endpoint_id: UUID, expected_version: int) -> FailureCount | None:
        stored = self._at(org_id, endpoint_id, expected_version)
        if stored is None or not stored.enabled:
            return None
        now = self._clock()
        counted = stored.with_changes(
            num_consecutive_failures=stored.num_consecutive_failures + 1,
            failing_since=stored.failing_since or now,
            version=stored.version + 1,
            updated_at=now,
            updated_by=EMPTY_UUID,
        )
        self._endpoints[org_id, endpoint_id] = counted
        failing_for = timedelta(0) if stored.failing_since is None else now - stored.failing_since
        return FailureCount(endpoint=counted, failing_for=failing_for)

    @override
    async def create_message(self, org_id: UUID, message: WebhookMessage, rows: Sequence[OutboxRow]) -> InsertOutcome:
        outcome = self._create(self._messages, org_id, message, rows)
        if outcome is InsertOutcome.INSERTED:
            self._recorded_at[org_id, message.id] = self._clock()
        return outcome

    @override
    async def read_message(self, org_id: UUID, message_id: UUID) -> WebhookMessage | None:
        return self._messages.get((org_id, message_id))

    @override
    async def read_messages(
        self, org_id: UUID, limit: int, after: UUID | None = None
    ) -> tuple[WebhookMessageHead, ...]:
        ids = sorted((key[1] for key in self._messages if key[0] == org_id), reverse=True)
        chosen = [each for each in ids if after is None or each < after][:limit]
        return tuple(_head(self._messages[org_id, each]) for each in chosen)

    @override
    async def purge_messages(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        before = self._clock() - older_than
        old = [(at, key) for key, at in self._recorded_at.items() if key[0] == org_id and at < before]
        for _, key in sorted(old)[:limit]:
            del self._messages[key], self._recorded_at[key]
        return len(old[:limit])

    @override
    async def purge_endpoints(self, org_id: UUID, limit: int) -> int:
        gone = self._endpoints_of(org_id)[:limit]
        for endpoint in gone:
            del self._endpoints[org_id, endpoint.id]
        return len(gone)

    def holds(self, org_id: UUID) -> bool:
        """Tell whether anything here is the tenant's."""
        return any(key[0] == org_id for key in (*self._endpoints, *self._messages))

    def _create[Entity: (WebhookEndpoint, WebhookMessage)](
        self, table: dict[_Key, Entity], org_id: UUID, entity: Entity, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        if (org_id, entity.id) in table:
            return InsertOutcome.ID_EXISTS
        self._outbox.add(org_id, rows)
        table[org_id, entity.id] = entity
        return InsertOutcome.INSERTED

    def _endpoints_of(self, org_id: UUID) -> list[WebhookEndpoint]:
        return [self._endpoints[key] for key in sorted(self._endpoints) if key[0] == org_id]

    def _at(self, org_id: UUID, endpoint_id: UUID, version: int) -> WebhookEndpoint | None:
        stored = self._endpoints.get((org_id, endpoint_id))
        return stored if stored is not None and stored.version == version else None


def _head(message: WebhookMessage) -> WebhookMessageHead:
    return WebhookMessageHead.model_validate(message.model_dump(exclude={"body"}))
