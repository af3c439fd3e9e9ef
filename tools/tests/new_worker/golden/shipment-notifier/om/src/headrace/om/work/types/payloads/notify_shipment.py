"""The payload of NOTIFY_SHIPMENT."""

from decimal import Decimal
from typing import ClassVar
from uuid import UUID

from pydantic import Field

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_payload import WorkPayload


class NotifyShipmentPayload(WorkPayload):
    """What an item of NOTIFY_SHIPMENT carries."""

    kind: ClassVar[WorkKind] = WorkKind.NOTIFY_SHIPMENT

    order_id: UUID
    carrier: str = Field(min_length=1, max_length=1000)
    weight: Decimal = Field(allow_inf_nan=False, max_digits=38, decimal_places=18)
    note: str | None = Field(default=None, min_length=1, max_length=1000)
