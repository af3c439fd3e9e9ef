"""What webhooks promise, by reader: who owns endpoints, who publishes, who delivers, who sweeps."""

from abc import ABC, abstractmethod
from datetime import timedelta
from uuid import UUID

from headrace.om.context import OpContext
from headrace.om.webhooks.types.delivery import DueDelivery, FailurePolicy
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import PublishedMessage, WebhookMessage, WebhookMessageHead


class WebhookEndpointsInterface(ABC):
    """For who decides where a tenant's events go."""

    @abstractmethod
    async def add_endpoint(self, ctx: OpContext, endpoint: WebhookEndpoint) -> WebhookEndpoint:
        """Add an endpoint, enabled; return it as it stands.

        Safe to call again: an endpoint whose id is there already is read back untouched. Messages that
        were published before are not sent to it.

        Args:
            ctx: Whose tenant, and who adds it.
            endpoint: Name, URL, secret reference, filter; fields in `MANAGER_OWNED_FIELDS` are overwritten.

        Raises:
            ValidationFailed: A field cannot work; nothing was written.
            TooManyWebhookEndpoints: The tenant has `MAX_ENDPOINTS`; nothing was written.
        """
        ...

    @abstractmethod
    async def get_endpoint(self, ctx: OpContext, endpoint_id: UUID) -> WebhookEndpoint:
        """Return one endpoint.

        Raises:
            WebhookEndpointNotFound: It is not in this tenant.
        """
        ...

    @abstractmethod
    async def get_endpoints(
        self, ctx: OpContext, limit: int = 100, after: UUID | None = None
    ) -> tuple[WebhookEndpoint, ...]:
        """Return endpoints in the order of their ids, oldest first, from above `after` on; at most `limit` (1-1000)."""
        ...

    @abstractmethod
    async def enable_endpoint(self, ctx: OpContext, endpoint_id: UUID) -> WebhookEndpoint:
        """Let an endpoint have messages again, with its failures forgotten; return it.

        Atomic, by compare-and-set on the version. Doing it to an enabled endpoint changes nothing.
        Items that were refused while it was disabled stay refused until somebody retries them.

        Raises:
            WebhookEndpointNotFound: It is not in this tenant.
            WebhookEndpointChanged: Others changed it at every try; nothing was written.
        """
        ...

    @abstractmethod
    async def disable_endpoint(self, ctx: OpContext, endpoint_id: UUID, reason: str) -> WebhookEndpoint:
        """Stop sending to an endpoint; return it.

        Atomic, by compare-and-set on the version. Doing it to a disabled endpoint changes nothing: the
        first reason stays. Items on their way are refused when their turn comes.

        Args:
            ctx: Whose tenant, and who decides it.
            endpoint_id: The endpoint.
            reason: For people; 1-500 characters.

        Raises:
            ValidationFailed: The reason does not fit; nothing was written.
            WebhookEndpointNotFound: It is not in this tenant.
            WebhookEndpointChanged: Others changed it at every try; nothing was written.
        """
        ...


class WebhookMessagesInterface(ABC):
    """For who tells events."""

    @abstractmethod
    async def publish(
        self, ctx: OpContext, event_type: str, body: str, *, message_id: UUID | None = None
    ) -> PublishedMessage:
        """Publish a message to every enabled endpoint that wants it; return what was addressed.

        One core write: the message and one outbox row of work for each endpoint, all or nothing. The rows
        are relayed at once where that works, else by the sweep. That nobody wants the event is reported,
        no error. Safe to call again with the same `message_id`: reported, and nothing is sent twice.

        Args:
            ctx: Whose tenant, and who publishes.
            event_type: Lowercase words joined by dots, 1-100 characters.
            body: One JSON value as text, at most 1 MiB in UTF-8; endpoints get exactly these bytes.
            message_id: The message's id, for publishers that retry; a new one when None.

        Raises:
            ValidationFailed: The type or the body does not fit; nothing was written.
            WebhookMessageDiffers: The id belongs to another message; nothing was written.
            Unavailable: The database did not take it; publish again with the same `message_id`.
        """
        ...

    @abstractmethod
    async def get_message(self, ctx: OpContext, message_id: UUID) -> WebhookMessage:
        """Return one message.

        Raises:
            WebhookMessageNotFound: It is not in this tenant.
        """
        ...

    @abstractmethod
    async def get_messages(
        self, ctx: OpContext, limit: int = 100, after: UUID | None = None
    ) -> tuple[WebhookMessageHead, ...]:
        """Return messages without their bodies, newest first by id, from below `after` on; at most `limit` (1-1000)."""
        ...


class WebhookDeliveriesInterface(ABC):
    """For the dispatcher, under the service role: what to deliver, and how it went."""

    @abstractmethod
    async def get_delivery(self, ctx: OpContext, message_id: UUID, endpoint_id: UUID) -> DueDelivery:
        """Return the message and the endpoint of a delivery, the endpoint as it stands now.

        Raises:
            WebhookMessageNotFound: The message is not in this tenant.
            WebhookEndpointNotFound: The endpoint is not in this tenant.
        """
        ...

    @abstractmethod
    async def endpoint_gone(self, ctx: OpContext, endpoint: WebhookEndpoint) -> WebhookEndpoint:
        """Disable an endpoint that answered 410 Gone, with an audit entry; return it.

        Atomic and safe to call twice: an endpoint that is disabled already is left as it is, without a
        second entry. When others change it at every try it stays enabled until the next 410.

        Raises:
            WebhookEndpointNotFound: It is not in this tenant any more.
        """
        ...

    @abstractmethod
    async def delivery_succeeded(self, ctx: OpContext, endpoint: WebhookEndpoint) -> None:
        """Forget the endpoint's failures, if it had any when the caller read it; writes nothing otherwise.

        Best effort: when others change the endpoint at every try the count stays, and the next success
        clears it.
        """
        ...

    @abstractmethod
    async def delivery_failed(
        self, ctx: OpContext, endpoint: WebhookEndpoint, policy: FailurePolicy
    ) -> WebhookEndpoint:
        """Count one failed attempt; disable the endpoint, with an audit entry, where the policy says so.

        By compare-and-set on the version; counts nothing for a disabled endpoint. When others change the
        endpoint at every try this one failure goes uncounted, and the next is counted.

        Returns:
            The endpoint as it stands afterwards; disabled where the policy's bounds are reached.

        Raises:
            WebhookEndpointNotFound: It is not in this tenant any more.
        """
        ...


class WebhookSweepInterface(ABC):
    """For the maintenance sweep, under the service role; every step may run anywhere, at any time, twice."""

    @abstractmethod
    async def purge_messages(self, ctx: OpContext, older_than: timedelta) -> int:
        """Remove this tenant's messages older than that, the oldest first; return how many. Bounded per call.

        A delivery that is still on its way, or is retried later, finds its message gone and is refused. The age is
        0 to 36,500 days.
        """
        ...

    @abstractmethod
    async def purge_endpoints(self, ctx: OpContext) -> int:
        """Remove this tenant's endpoints; return how many. Bounded per call. Only for an org that is gone."""
        ...


class WebhooksManagerInterface(
    WebhookEndpointsInterface, WebhookMessagesInterface, WebhookDeliveriesInterface, WebhookSweepInterface
):
    """Webhook endpoints, messages and deliveries."""
