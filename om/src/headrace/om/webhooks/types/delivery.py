"""What the dispatcher reads and reports of deliveries."""

from datetime import timedelta
from typing import Final

from pydantic import Field

from headrace.om.base import Platform
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import WebhookMessage

DELIVERY_LANE: Final = "webhooks"
"""The lane of deliveries: a receiver that hangs holds up other deliveries and no other work."""


class DueDelivery(Platform):
    """What it takes to deliver one message to one endpoint."""

    message: WebhookMessage
    endpoint: WebhookEndpoint


class FailurePolicy(Platform):
    """When an endpoint that keeps failing is disabled: both bounds must be reached."""

    max_consecutive_failures: int = Field(default=20, ge=1, le=1_000_000)
    max_failing_for: timedelta = Field(default=timedelta(days=1), ge=timedelta(0))


class FailureCount(Platform):
    """An endpoint after one more failure was counted."""

    endpoint: WebhookEndpoint
    failing_for: timedelta
    """Since the first of its consecutive failures, both instants on the database's clock."""
