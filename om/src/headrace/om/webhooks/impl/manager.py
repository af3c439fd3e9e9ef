"""The webhooks manager: endpoints and messages over their storage, outbox rows and the audit trail beside them."""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, override
from uuid import UUID

from headrace.om.audit.manager import AuditManagerInterface
from headrace.om.audit.types.audit_entry import AuditEntry
from headrace.om.base import EMPTY_UUID, FrozenMapping, new_id, utcnow
from headrace.om.context import OpContext, Permission
from headrace.om.encoding import refuse_unstorable_text
from headrace.om.exceptions import PlatformException, ValidationFailed
from headrace.om.outbox.manager import OutboxRelayInterface
from headrace.om.outbox.rows import entity_row, work_row
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.paging import DEFAULT_SWEEP_LIMIT, checked_age, checked_limit
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.webhooks.exceptions import (
    TooManyWebhookEndpoints,
    WebhookEndpointChanged,
    WebhookEndpointNotFound,
    WebhookMessageDiffers,
    WebhookMessageNotFound,
)
from headrace.om.webhooks.manager import WebhooksManagerInterface
from headrace.om.webhooks.rules import MAX_ENDPOINTS, check_body, check_endpoint, check_event_type, is_failing_too_long
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.webhooks.types.delivery import DELIVERY_LANE, DueDelivery, FailureCount, FailurePolicy
from headrace.om.webhooks.types.endpoint import MAX_REASON_LENGTH, WebhookEndpoint
from headrace.om.webhooks.types.message import Delivery, PublishedMessage, WebhookMessage, WebhookMessageHead
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.deliver_webhook import DeliverWebhookPayload

logger = logging.getLogger(__name__)

MAX_WRITE_TRIES: Final = 5
"""How often a compare-and-set reads again what others have changed."""

_ENTITY: Final = "webhook_endpoint"
_ORIGIN: Final = "webhooks"
_FORGIVEN: Final[Mapping[str, object]] = {"num_consecutive_failures": 0, "failing_since": None}

type _Changes = Callable[[WebhookEndpoint], Mapping[str, object]]
"""Returns the fields to change in an endpoint as it stands; none where it stands as wanted."""


class WebhooksManagerImpl(WebhooksManagerInterface):
    """Webhooks over any storage.

    Args:
        storage: Endpoints and messages.
        relay: Carries outbox rows on right after the write that landed them.
        audit: Names the endpoints that the platform disabled by itself.
        sweep_limit: Records that one call of the sweep removes at most; 1 or more.
    """

    def __init__(
        self,
        storage: WebhooksStorageInterface,
        relay: OutboxRelayInterface,
        audit: AuditManagerInterface,
        *,
        sweep_limit: int = DEFAULT_SWEEP_LIMIT,
    ) -> None:
        self._storage = storage
        self._relay = relay
        self._audit = audit
        self._sweep_limit = sweep_limit

    @override
    async def add_endpoint(self, ctx: OpContext, endpoint: WebhookEndpoint) -> WebhookEndpoint:
        ctx.require(Permission.WEBHOOKS_ADMIN)
        check_endpoint(ctx.org_id, endpoint)
        if (known := await self._storage.read_endpoint(ctx.org_id, endpoint.id)) is not None:
            return known
        # Two adds at once may both pass: the bound keeps a message's write bounded, it is no quota.
        if await self._storage.count_endpoints(ctx.org_id) >= MAX_ENDPOINTS:
            raise TooManyWebhookEndpoints(f"an org has at most {MAX_ENDPOINTS} webhook endpoints")
        stamped = _stamped(ctx, endpoint)
        rows = (entity_row(ctx, _ENTITY, endpoint.id, "created"),)
        if await self._storage.create_endpoint(ctx.org_id, stamped, rows) is InsertOutcome.INSERTED:
            await self._relay.relay_rows(ctx.org_id, rows)
        return await self._endpoint(ctx, endpoint.id)

    @override
    async def get_endpoint(self, ctx: OpContext, endpoint_id: UUID) -> WebhookEndpoint:
        ctx.require(Permission.WEBHOOKS_READ)
        return await self._endpoint(ctx, endpoint_id)

    @override
    async def get_endpoints(
        self, ctx: OpContext, limit: int = 100, after: UUID | None = None
    ) -> tuple[WebhookEndpoint, ...]:
        ctx.require(Permission.WEBHOOKS_READ)
        return await self._storage.read_endpoints(ctx.org_id, checked_limit(limit), after)

    @override
    async def enable_endpoint(self, ctx: OpContext, endpoint_id: UUID) -> WebhookEndpoint:
        ctx.require(Permission.WEBHOOKS_ADMIN)

        def enabled(stored: WebhookEndpoint) -> Mapping[str, object]:
            return {} if stored.enabled else {"enabled": True, "disabled_reason": None, **_FORGIVEN}

        stored = await self._endpoint(ctx, endpoint_id)
        endpoint, _ = await self._change(ctx, stored, enabled, told_as="enabled")
        return endpoint

    @override
    async def disable_endpoint(self, ctx: OpContext, endpoint_id: UUID, reason: str) -> WebhookEndpoint:
        ctx.require(Permission.WEBHOOKS_ADMIN)
        refuse_unstorable_text("reason", reason)
        if not 1 <= len(reason) <= MAX_REASON_LENGTH:
            raise ValidationFailed("reason", f"1 to {MAX_REASON_LENGTH} characters")
        stored = await self._endpoint(ctx, endpoint_id)
        endpoint, _ = await self._change(ctx, stored, _disabling(reason), told_as="disabled")
        return endpoint

    @override
    async def publish(
        self, ctx: OpContext, event_type: str, body: str, *, message_id: UUID | None = None
    ) -> PublishedMessage:
        ctx.require(Permission.WEBHOOKS_PUBLISH)
        check_event_type("event_type", event_type)
        check_body(body)
        limit = 2 * MAX_ENDPOINTS  # room for adds that passed the bound at once
        endpoints = await self._storage.read_endpoints_wanting(ctx.org_id, event_type, limit)
        message = WebhookMessage(
            id=message_id or new_id(),
            created_by=ctx.user_id,
            event_type=event_type,
            body=body,
            body_bytes=len(body.encode()),
            num_deliveries=len(endpoints),
        )
        return await self._published(ctx, message, {each.id: _delivery_row(ctx, message, each) for each in endpoints})

    @override
    async def get_message(self, ctx: OpContext, message_id: UUID) -> WebhookMessage:
        ctx.require(Permission.WEBHOOKS_READ)
        return await self._message(ctx, message_id)

    @override
    async def get_messages(
        self, ctx: OpContext, limit: int = 100, after: UUID | None = None
    ) -> tuple[WebhookMessageHead, ...]:
        ctx.require(Permission.WEBHOOKS_READ)
        return await self._storage.read_messages(ctx.org_id, checked_limit(limit), after)

    @override
    async def get_delivery(self, ctx: OpContext, message_id: UUID, endpoint_id: UUID) -> DueDelivery:
        ctx.require(Permission.WEBHOOKS_DELIVER)
        # The endpoint last: whether it is enabled should be as fresh as can be.
        message = await self._message(ctx, message_id)
        return DueDelivery(message=message, endpoint=await self._endpoint(ctx, endpoint_id))

    @override
    async def endpoint_gone(self, ctx: OpContext, endpoint: WebhookEndpoint) -> WebhookEndpoint:
        ctx.require(Permission.WEBHOOKS_DELIVER)
        reason = "the receiver answered 410 Gone"
        return await self._disable(ctx, endpoint, reason, {"cause": "gone"})

    @override
    async def delivery_succeeded(self, ctx: OpContext, endpoint: WebhookEndpoint) -> None:
        ctx.require(Permission.WEBHOOKS_DELIVER)
        if endpoint.num_consecutive_failures == 0:
            return

        def forgiven(stored: WebhookEndpoint) -> Mapping[str, object]:
            return _FORGIVEN if stored.num_consecutive_failures else {}

        try:
            await self._change(ctx, endpoint, forgiven, told_as=None)
        except WebhookEndpointChanged:
            logger.info("webhook endpoint %s keeps its count of failures until the next success", endpoint.id)

    @override
    async def delivery_failed(
        self, ctx: OpContext, endpoint: WebhookEndpoint, policy: FailurePolicy
    ) -> WebhookEndpoint:
        ctx.require(Permission.WEBHOOKS_DELIVER)
        current = endpoint
        for _ in range(MAX_WRITE_TRIES):
            if not current.enabled:
                return current
            counted = await self._storage.count_failure(ctx.org_id, current.id, current.version)
            if counted is not None:
                return await self._disabled_when_failing(ctx, counted, policy)
            current = await self._endpoint(ctx, endpoint.id)
        return current

    @override
    async def purge_messages(self, ctx: OpContext, older_than: timedelta) -> int:
        ctx.require(Permission.WEBHOOKS_SWEEP)
        return await self._storage.purge_messages(ctx.org_id, checked_age(older_than), self._sweep_limit)

    @override
    async def purge_endpoints(self, ctx: OpContext) -> int:
        ctx.require(Permission.WEBHOOKS_SWEEP)
        return await self._storage.purge_endpoints(ctx.org_id, self._sweep_limit)

    async def _published(
        self, ctx: OpContext, message: WebhookMessage, rows: Mapping[UUID, OutboxRow]
    ) -> PublishedMessage:
        outcome = await self._storage.create_message(ctx.org_id, message, tuple(rows.values()))
        if outcome is not InsertOutcome.INSERTED:
            return await self._published_before(ctx, message)
        await self._relay.relay_rows(ctx.org_id, tuple(rows.values()))
        deliveries = tuple(Delivery(endpoint_id=each, idempotency_key=str(row.id)) for each, row in rows.items())
        return PublishedMessage(message=message, is_new=True, deliveries=deliveries)

    async def _published_before(self, ctx: OpContext, message: WebhookMessage) -> PublishedMessage:
        known = await self._message(ctx, message.id)
        if (known.event_type, known.body) != (message.event_type, message.body):
            raise WebhookMessageDiffers(f"message {message.id} was published before with another event type or body")
        return PublishedMessage(message=known, is_new=False, deliveries=())

    async def _disabled_when_failing(
        self, ctx: OpContext, count: FailureCount, policy: FailurePolicy
    ) -> WebhookEndpoint:
        if not is_failing_too_long(policy, count):
            return count.endpoint
        num, seconds = count.endpoint.num_consecutive_failures, int(count.failing_for.total_seconds())
        details = {"cause": "failing", "num_consecutive_failures": num, "failing_for_seconds": seconds}
        reason = f"{num} attempts in a row failed, over {count.failing_for}"
        return await self._disable(ctx, count.endpoint, reason, details)

    async def _disable(
        self, ctx: OpContext, endpoint: WebhookEndpoint, reason: str, details: Mapping[str, Any]
    ) -> WebhookEndpoint:
        """Disable an endpoint on the platform's own account, and name it in the audit trail where that changed it."""
        try:
            disabled, is_changed = await self._change(ctx, endpoint, _disabling(reason), told_as="disabled")
        except WebhookEndpointChanged:
            logger.warning("webhook endpoint %s could not be disabled now: others keep changing it", endpoint.id)
            return endpoint
        if is_changed:
            logger.warning("webhook endpoint %s is disabled: %s", endpoint.id, reason)
            await self._append_audit(ctx, endpoint.id, details)
        return disabled

    async def _append_audit(self, ctx: OpContext, endpoint_id: UUID, details: Mapping[str, Any]) -> None:
        entry = AuditEntry(
            action="webhooks.endpoint_disabled",
            target_type=_ENTITY,
            target_id=endpoint_id,
            details=FrozenMapping(details),
        )
        try:
            await self._audit.append(ctx, entry)
        except PlatformException:
            # The endpoint is disabled and the change is in the feed: the delivery must not fail over this.
            logger.exception("the audit entry of disabling webhook endpoint %s is lost: %s", endpoint_id, details)

    async def _change(
        self, ctx: OpContext, known: WebhookEndpoint, changes: _Changes, *, told_as: str | None
    ) -> tuple[WebhookEndpoint, bool]:
        """Write changes by compare-and-set, beginning with the endpoint as the caller knows it.

        Args:
            ctx: Whose tenant, and who changes it.
            known: The endpoint as it was read.
            changes: Asked anew whenever others came first.
            told_as: What the entity change says; None for bookkeeping, which is nobody's change.

        Returns:
            The endpoint as it stands, and whether this call changed it.
        """
        rows = () if told_as is None else (entity_row(ctx, _ENTITY, known.id, told_as),)
        actor = EMPTY_UUID if told_as is None else ctx.user_id
        current = known
        for _ in range(MAX_WRITE_TRIES):
            if not (wanted := changes(current)):
                return current, False
            stamp = {"version": current.version + 1, "updated_at": utcnow(), "updated_by": actor}
            changed = current.with_changes(**wanted, **stamp)
            if await self._storage.write_endpoint(ctx.org_id, changed, current.version, rows):
                await self._relay.relay_rows(ctx.org_id, rows)
                return changed, True
            current = await self._endpoint(ctx, known.id)
        raise WebhookEndpointChanged(f"webhook endpoint {known.id} was changed by others at every try")

    async def _endpoint(self, ctx: OpContext, endpoint_id: UUID) -> WebhookEndpoint:
        if (endpoint := await self._storage.read_endpoint(ctx.org_id, endpoint_id)) is None:
            raise WebhookEndpointNotFound(f"there is no webhook endpoint {endpoint_id}")
        return endpoint

    async def _message(self, ctx: OpContext, message_id: UUID) -> WebhookMessage:
        if (message := await self._storage.read_message(ctx.org_id, message_id)) is None:
            raise WebhookMessageNotFound(f"there is no webhook message {message_id}")
        return message


def _stamped(ctx: OpContext, endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Return the endpoint with the manager's own fields as they start, whatever the caller sent."""
    now = utcnow()
    return WebhookEndpoint(
        id=endpoint.id,
        name=endpoint.name,
        url=endpoint.url,
        secret_reference=endpoint.secret_reference,
        event_types=endpoint.event_types,
        created_at=now,
        created_by=ctx.user_id,
        updated_at=now,
        updated_by=ctx.user_id,
    )


def _disabling(reason: str) -> _Changes:
    def disabled(stored: WebhookEndpoint) -> Mapping[str, object]:
        return {"enabled": False, "disabled_reason": reason} if stored.enabled else {}

    return disabled


def _delivery_row(ctx: OpContext, message: WebhookMessage, endpoint: WebhookEndpoint) -> OutboxRow:
    payload = DeliverWebhookPayload(message_id=message.id, endpoint_id=endpoint.id)
    return work_row(ctx, WorkKind.DELIVER_WEBHOOK, payload, origin=_ORIGIN, lane=DELIVERY_LANE, target_id=message.id)
