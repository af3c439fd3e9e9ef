"""The table of outbox rows, in the core role."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class OutboxRowTable(Table):
    """One side effect, until it has happened and some time longer."""

    __tablename__ = "outbox_rows"

    org_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    payload: Mapped[Any] = mapped_column(JSONB)
    actor_id: Mapped[UUID] = mapped_column(Uuid)
    request_id: Mapped[UUID] = mapped_column(Uuid)
    traceparent: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime]
    recorded_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    available_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    num_failures: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    last_error: Mapped[str | None] = mapped_column(Text)
    done_at: Mapped[datetime | None]
