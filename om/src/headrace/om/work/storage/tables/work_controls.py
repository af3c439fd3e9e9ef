"""The table of what bounds, paces and pauses claims, in the queue role; see `storage/impl/control_statements.py`."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Double, Integer, Text, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class WorkControlTable(Table):
    """One row for each thing said about a lane, a kind, an org or keys; the platform's, so no tenant's."""

    __tablename__ = "work_controls"

    what: Mapped[str] = mapped_column(Text, primary_key=True)
    scope: Mapped[str] = mapped_column(Text, primary_key=True)
    lane: Mapped[str] = mapped_column(Text, primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    org_id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    max_running: Mapped[int | None] = mapped_column(Integer)
    per_second: Mapped[float | None] = mapped_column(Double)
    burst: Mapped[int | None] = mapped_column(Integer)
    tokens: Mapped[float | None] = mapped_column(Double)
    filled_at: Mapped[datetime | None]
    origin: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
