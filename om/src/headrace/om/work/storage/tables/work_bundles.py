"""The table of bundles, in the queue role; its statements are in `storage/impl/bundle_statements.py`."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class WorkBundleTable(Table):
    """One row a bundle; its counters are written in the transactions that settle its items."""

    __tablename__ = "work_bundles"

    org_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(Text)
    request_id: Mapped[UUID | None] = mapped_column(Uuid)
    traceparent: Mapped[str | None] = mapped_column(Text)
    on_settled: Mapped[Any | None] = mapped_column(JSONB)
    follow_up_id: Mapped[UUID | None] = mapped_column(Uuid)
    num_items: Mapped[int] = mapped_column(Integer)
    num_done: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    num_failed: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    num_cancelled: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    status: Mapped[str] = mapped_column(Text)
    settled_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    created_by: Mapped[UUID] = mapped_column(Uuid)
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID] = mapped_column(Uuid)
