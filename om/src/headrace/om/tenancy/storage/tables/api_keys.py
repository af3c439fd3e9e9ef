"""The table of API keys."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class ApiKeyRow(Table):
    """An API key of an org. Its user may be the platform's, which is no row, so that it is no foreign key."""

    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    org_id: Mapped[UUID] = mapped_column(ForeignKey("core.orgs.id"))
    user_id: Mapped[UUID]
    name: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(Text)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID]


Index("api_keys_org_id_id", ApiKeyRow.org_id, ApiKeyRow.id)
