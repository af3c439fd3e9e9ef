"""The table of users."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class UserRow(Table):
    """A user of the platform; a tenant sees those that are its members."""

    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    login_name: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID]


Index("users_login_name_key", UserRow.login_name, unique=True)
