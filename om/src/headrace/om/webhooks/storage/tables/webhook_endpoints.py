"""The table of webhook endpoints, in the core role."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Integer, Text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class WebhookEndpointRow(Table):
    """One URL of a tenant that messages are posted to."""

    __tablename__ = "webhook_endpoints"

    org_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    url: Mapped[str] = mapped_column(Text)
    secret_reference: Mapped[str] = mapped_column(Text)
    event_types: Mapped[list[str]] = mapped_column(ARRAY(Text))
    enabled: Mapped[bool] = mapped_column(Boolean)
    disabled_reason: Mapped[str | None] = mapped_column(Text)
    version: Mapped[int] = mapped_column(BigInteger)
    num_consecutive_failures: Mapped[int] = mapped_column(Integer)
    failing_since: Mapped[datetime | None]
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID]
