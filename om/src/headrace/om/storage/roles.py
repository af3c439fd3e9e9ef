"""Which database role and which tenancy scope every table has: the single source.

The ORM base takes the schema from here, the arch check holds every table and every migration to it, and the
tests hold the policies of a migrated database to it.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class DatabaseRole(StrEnum):
    """A part of the data with its own schema, connection URL and migration chain."""

    CORE = "core"
    ACTIVITY = "activity"
    QUEUE = "queue"


class TenancyScope(StrEnum):
    """Whose rows a table holds, and so what its policy admits."""

    SYSTEM = "system"
    """The platform's alone: only the system login reads and writes it."""
    ORG = "org"
    """One tenant's each: the runtime login sees the tenant that its transaction names."""
    IDENTITY = "identity"
    """People and orgs themselves: the runtime login sees those that the tenant is made of."""
    BOTH = "both"
    """A tenant's, or the platform's under `EMPTY_UUID`: read like `ORG`."""


class Login(StrEnum):
    """Who a connection is; none is superuser and none bypasses row-level security."""

    MIGRATION = "migration"
    """Owns the schemas; used by migrations alone."""
    RUNTIME = "runtime"
    """Reads and writes rows of the tenant that its transaction names; owns nothing."""
    SYSTEM = "system"
    """Runtime's twin for the enumerated statements across tenants."""


LOGIN_NAMES: Final[Mapping[Login, str]] = MappingProxyType({login: f"headrace_{login}" for login in Login})
"""The PostgreSQL roles that policies and grants name; a login of another name must be a member of its role."""

TENANT_SETTING: Final = "app.org_id"
"""The setting, local to a transaction, that policies compare a row's tenant with."""

TABLE_ROLES: Final[Mapping[str, DatabaseRole]] = MappingProxyType(
    {
        "orgs": DatabaseRole.CORE,
        "users": DatabaseRole.CORE,
        "memberships": DatabaseRole.CORE,
        "api_keys": DatabaseRole.CORE,
        "outbox_rows": DatabaseRole.CORE,
        "webhook_endpoints": DatabaseRole.CORE,
        "webhook_messages": DatabaseRole.CORE,
        "audit_entries": DatabaseRole.ACTIVITY,
        "events": DatabaseRole.ACTIVITY,
        "work_items": DatabaseRole.QUEUE,
        "work_bundles": DatabaseRole.QUEUE,
        "work_controls": DatabaseRole.QUEUE,
        "work_schedules": DatabaseRole.QUEUE,
    }
)

TABLE_SCOPES: Final[Mapping[str, TenancyScope]] = MappingProxyType(
    {
        "orgs": TenancyScope.IDENTITY,
        "users": TenancyScope.IDENTITY,
        "memberships": TenancyScope.ORG,
        "api_keys": TenancyScope.ORG,
        "outbox_rows": TenancyScope.BOTH,
        "webhook_endpoints": TenancyScope.ORG,
        "webhook_messages": TenancyScope.ORG,
        "audit_entries": TenancyScope.BOTH,
        "events": TenancyScope.BOTH,
        "work_items": TenancyScope.ORG,
        "work_bundles": TenancyScope.ORG,
        "work_controls": TenancyScope.SYSTEM,
        "work_schedules": TenancyScope.ORG,
    }
)
