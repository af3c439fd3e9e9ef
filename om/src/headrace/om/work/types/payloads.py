"""What the payload of each kind of work item must look like."""

from uuid import UUID

from pydantic import Field

from headrace.om.base import Platform


class NoopPayload(Platform):
    """Nothing to do; the note is for whoever looks at the item."""

    note: str = Field(default="", max_length=1000)


class DeliverWebhookPayload(Platform):
    """One message to one endpoint, by their ids: the body stays with the message."""

    message_id: UUID
    endpoint_id: UUID
