"""The table of events."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class EventRow(Table):
    """An event. The tenant leads the key, so that a tenant's feed is one walk along it."""

    __tablename__ = "events"

    org_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    entity: Mapped[str] = mapped_column(Text)
    entity_id: Mapped[UUID]
    change: Mapped[str] = mapped_column(Text)
    request_id: Mapped[UUID]
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
