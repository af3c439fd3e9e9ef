"""The user: a person or an account, which orgs have as a member."""

from typing import ClassVar

from pydantic import Field

from headrace.om.base import PROVENANCE_FIELDS, Identifiable, Named, Trackable


class User(Identifiable, Named, Trackable):
    """Somebody who acts; belongs to no org by itself, only by membership. `name` is for display."""

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS

    login_name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$", description="Unique on the whole platform")
