"""The payload of DELIVER_WEBHOOK."""

from typing import ClassVar
from uuid import UUID

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_payload import WorkPayload


class DeliverWebhookPayload(WorkPayload):
    """One message to one endpoint, by their ids: the body stays with the message."""

    kind: ClassVar[WorkKind] = WorkKind.DELIVER_WEBHOOK

    message_id: UUID
    endpoint_id: UUID
