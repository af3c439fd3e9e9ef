"""What webhooks ask of their storage, by reader; every method is one statement or one short unit."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.webhooks.types.delivery import FailureCount
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import WebhookMessage, WebhookMessageHead


class WebhooksSweepStorageInterface(ABC):
    """What the sweep removes; bounded, idempotent, safe to run anywhere at once."""

    @abstractmethod
    async def purge_messages(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        """Remove at most `limit` of the tenant's messages, oldest first; return how many.

        Messages that somebody else is removing are passed over.

        Args:
            org_id: The tenant.
            older_than: How long a message was there, on the storage's clock; zero takes every one.
            limit: 1 or more.
        """
        ...

    @abstractmethod
    async def purge_endpoints(self, org_id: UUID, limit: int) -> int:
        """Remove at most `limit` of the tenant's endpoints, whatever their state; return how many."""
        ...


class WebhooksStorageInterface(WebhooksSweepStorageInterface):
    """Endpoints and messages of one tenant at a time."""

    @abstractmethod
    async def create_endpoint(
        self, org_id: UUID, endpoint: WebhookEndpoint, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        """Insert an endpoint with its outbox rows, all or nothing.

        Returns:
            `ID_EXISTS` where the tenant has the id already: then nothing was written.
        """
        ...

    @abstractmethod
    async def count_endpoints(self, org_id: UUID) -> int:
        """Return how many endpoints the tenant has, disabled ones too."""
        ...

    @abstractmethod
    async def read_endpoint(self, org_id: UUID, endpoint_id: UUID) -> WebhookEndpoint | None:
        """Return one endpoint, or None where the tenant has none of that id."""
        ...

    @abstractmethod
    async def read_endpoints(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[WebhookEndpoint, ...]:
        """Return at most `limit` endpoints by id, ascending, from above `after` on."""
        ...

    @abstractmethod
    async def read_endpoints_wanting(self, org_id: UUID, event_type: str, limit: int) -> tuple[WebhookEndpoint, ...]:
        """Return at most `limit` enabled endpoints whose filter is empty or has the type, by id, ascending."""
        ...

    @abstractmethod
    async def write_endpoint(
        self, org_id: UUID, endpoint: WebhookEndpoint, expected_version: int, rows: Sequence[OutboxRow]
    ) -> bool:
        """Overwrite an endpoint and land its outbox rows, if it still has the expected version; all or nothing.

        What says who made it and when stays as it was.

        Args:
            org_id: The tenant.
            endpoint: The new content, with the new version.
            expected_version: The version that the caller read.
            rows: Side effects of the change.

        Returns:
            False where the tenant has no such endpoint at that version: then nothing was written.
        """
        ...

    @abstractmethod
    async def count_failure(self, org_id: UUID, endpoint_id: UUID, expected_version: int) -> FailureCount | None:
        """Count one more consecutive failure of an enabled endpoint, if it still has the expected version.

        The first of a row marks when they began, on the database's clock, which also measures how long.

        Returns:
            The endpoint as it stands then, at its next version; None where nothing was written.
        """
        ...

    @abstractmethod
    async def create_message(self, org_id: UUID, message: WebhookMessage, rows: Sequence[OutboxRow]) -> InsertOutcome:
        """Insert a message with its outbox rows, all or nothing.

        Returns:
            `ID_EXISTS` where the tenant has the id already: then nothing was written.
        """
        ...

    @abstractmethod
    async def read_message(self, org_id: UUID, message_id: UUID) -> WebhookMessage | None:
        """Return one message, its body byte for byte, or None where the tenant has none of that id."""
        ...

    @abstractmethod
    async def read_messages(
        self, org_id: UUID, limit: int, after: UUID | None = None
    ) -> tuple[WebhookMessageHead, ...]:
        """Return at most `limit` messages without their bodies by id, descending, from below `after` on."""
        ...
