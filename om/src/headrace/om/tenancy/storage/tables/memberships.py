"""The table of memberships."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from headrace.om.storage.tables import Table


class MembershipRow(Table):
    """A user in an org. The key to the user can be deferred: a policy shows a user only once it is a member."""

    __tablename__ = "memberships"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    org_id: Mapped[UUID] = mapped_column(ForeignKey("core.orgs.id"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("core.users.id", deferrable=True, initially="IMMEDIATE"))
    role: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    created_by: Mapped[UUID]
    updated_at: Mapped[datetime]
    updated_by: Mapped[UUID]


Index("memberships_org_id_user_id_key", MembershipRow.org_id, MembershipRow.user_id, unique=True)
Index("memberships_org_id_id", MembershipRow.org_id, MembershipRow.id)
Index("memberships_user_id", MembershipRow.user_id)
