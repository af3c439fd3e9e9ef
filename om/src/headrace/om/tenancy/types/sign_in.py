"""What storage knows about the API key that somebody presents."""

from dataclasses import dataclass
from uuid import UUID

from headrace.om.context import Role
from headrace.om.tenancy.types.api_key import ApiKey


@dataclass(frozen=True, slots=True)
class SignIn:
    """A live key of a live org, and what its member is there."""

    org_id: UUID
    key: ApiKey
    member_role: Role | None
    """The role of the key's user in the org; None where there is no such member."""
