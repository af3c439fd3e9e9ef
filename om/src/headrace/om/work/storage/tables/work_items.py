"""The table of work items, in the queue role; its statements are in `storage/impl/statements.py`."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Float, Integer, SmallInteger, Text, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class WorkItemTable(Table):
    """One row an item; the tenant is part of the key, so that an id means nothing outside its tenant."""

    __tablename__ = "work_items"

    org_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    lane: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(Text)
    target_id: Mapped[UUID | None] = mapped_column(Uuid)
    idempotency_key: Mapped[str | None] = mapped_column(Text)
    request_id: Mapped[UUID | None] = mapped_column(Uuid)
    traceparent: Mapped[str | None] = mapped_column(Text)
    payload: Mapped[Any] = mapped_column(JSONB)
    priority: Mapped[int] = mapped_column(SmallInteger)
    available_at: Mapped[datetime]
    status: Mapped[str] = mapped_column(Text)
    claimed_by: Mapped[str | None] = mapped_column(Text)
    claim_token: Mapped[UUID | None] = mapped_column(Uuid)
    lease_expires_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    max_attempts: Mapped[int] = mapped_column(Integer)
    crashes: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    last_error: Mapped[str | None] = mapped_column(Text)
    error_code: Mapped[str | None] = mapped_column(Text)
    result: Mapped[Any | None] = mapped_column(JSONB)
    progress: Mapped[float | None] = mapped_column(Float)
    progress_note: Mapped[str | None] = mapped_column(Text)
    started_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
    cancel_requested_at: Mapped[datetime | None]
    bundle_id: Mapped[UUID | None] = mapped_column(Uuid)
    unique_for: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    unique_hash: Mapped[UUID | None] = mapped_column(Uuid)
    settlement_id: Mapped[UUID | None] = mapped_column(Uuid)
    concurrency_key: Mapped[str | None] = mapped_column(Text)
    ordering_key: Mapped[str | None] = mapped_column(Text)
    turn: Mapped[UUID | None] = mapped_column(Uuid)
    line: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    created_at: Mapped[datetime]
    created_by: Mapped[UUID] = mapped_column(Uuid)
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID] = mapped_column(Uuid)
