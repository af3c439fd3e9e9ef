"""The webhook message: one event to tell, whose body every endpoint gets byte for byte."""

from typing import ClassVar, Final
from uuid import UUID

from pydantic import Field

from headrace.om.base import Created, Identifiable, Platform

MAX_EVENT_TYPE_LENGTH: Final = 100
MAX_BODY_BYTES: Final = 1024 * 1024


class WebhookMessageHead(Identifiable, Created):
    """A message without its body, for lists."""

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = frozenset(
        {
            "created_at",
            "created_by",
            "body_bytes",
            "num_deliveries",
        }
    )

    event_type: str = Field(min_length=1, max_length=MAX_EVENT_TYPE_LENGTH)
    body_bytes: int = Field(default=0, ge=0, le=MAX_BODY_BYTES, description="The body's size in UTF-8")
    num_deliveries: int = Field(default=0, ge=0, description="How many endpoints it was addressed to when published")


class WebhookMessage(WebhookMessageHead):
    """One event of a tenant. Never changes once it is published.

    The body is JSON kept as the text that the publisher gave, because signatures cover bytes.
    """

    body: str


class Delivery(Platform):
    """One message on its way to one endpoint."""

    endpoint_id: UUID
    idempotency_key: str
    """The work item's, which the receiver sees as `webhook-id`."""


class PublishedMessage(Platform):
    """What became of a publish."""

    message: WebhookMessage
    is_new: bool
    """False: the id had been published before with the same content; nothing was written or enqueued."""
    deliveries: tuple[Delivery, ...]
    """One for each enabled endpoint that wants the event; empty where none does, or where `is_new` is false."""
