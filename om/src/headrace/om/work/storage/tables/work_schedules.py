"""The table of schedules, in the queue role; its statements are in `storage/impl/schedule_statements.py`."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Boolean, Integer, Interval, SmallInteger, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class WorkScheduleTable(Table):
    """One row a schedule."""

    __tablename__ = "work_schedules"

    org_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    payload: Mapped[Any] = mapped_column(JSONB)
    lane: Mapped[str] = mapped_column(Text)
    priority: Mapped[int] = mapped_column(SmallInteger)
    max_attempts: Mapped[int | None] = mapped_column(Integer)
    cron: Mapped[str | None] = mapped_column(Text)
    time_zone: Mapped[str] = mapped_column(Text)
    every: Mapped[timedelta | None] = mapped_column(Interval)
    anchor_at: Mapped[datetime | None]
    missed: Mapped[str] = mapped_column(Text)
    missed_after: Mapped[timedelta] = mapped_column(Interval)
    overlap: Mapped[str] = mapped_column(Text)
    is_enabled: Mapped[bool] = mapped_column(Boolean)
    next_fire_at: Mapped[datetime | None]
    last_fired_at: Mapped[datetime | None]
    last_error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime]
    created_by: Mapped[UUID] = mapped_column(Uuid)
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID] = mapped_column(Uuid)
