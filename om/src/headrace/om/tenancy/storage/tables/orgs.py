"""The table of orgs."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class OrgRow(Table):
    """An org; its id is the tenant."""

    __tablename__ = "orgs"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID]
    deleted_at: Mapped[datetime | None]
