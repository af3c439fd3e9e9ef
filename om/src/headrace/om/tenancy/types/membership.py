"""The membership: what a user is within one org."""

from typing import ClassVar
from uuid import UUID

from headrace.om.base import PROVENANCE_FIELDS, Identifiable, Trackable
from headrace.om.context import Role


class Membership(Identifiable, Trackable):
    """Makes a user a member of the org that travels beside it; one for each user of an org."""

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS

    user_id: UUID
    role: Role
