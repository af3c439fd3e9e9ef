"""The tables of the tenancy namespace."""

from headrace.om.tenancy.storage.tables.api_keys import ApiKeyRow
from headrace.om.tenancy.storage.tables.memberships import MembershipRow
from headrace.om.tenancy.storage.tables.orgs import OrgRow
from headrace.om.tenancy.storage.tables.users import UserRow

__all__ = ["ApiKeyRow", "MembershipRow", "OrgRow", "UserRow"]
