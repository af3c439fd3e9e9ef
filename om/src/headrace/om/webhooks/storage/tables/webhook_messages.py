"""The table of webhook messages, in the core role."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Integer, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class WebhookMessageRow(Table):
    """One event of a tenant; the body is text, since jsonb would not keep its bytes."""

    __tablename__ = "webhook_messages"

    org_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    event_type: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    body_bytes: Mapped[int] = mapped_column(Integer)
    num_deliveries: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
    recorded_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
