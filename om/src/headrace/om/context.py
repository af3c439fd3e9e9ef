"""Who asks: contexts in stages, each of which is evidence that a check was made.

`RequestContext` says that something was asked. `OpContext` says on whose authority, and only the tenancy
manager's transitions build one: holding an `OpContext` proves that the tenancy manager saw a credential, a
claim or a sweep.
"""

from enum import StrEnum
from typing import Protocol
from uuid import UUID

from pydantic import Field

from headrace.om.base import Platform, new_id
from headrace.om.exceptions import NotAuthorized


class AppType(StrEnum):
    """What kind of process asks."""

    API = "api"
    CLI = "cli"
    WORKER = "worker"
    TEST = "test"


class Role(StrEnum):
    """What a principal is within one org."""

    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"
    SERVICE = "service"
    """The platform's own processes; no credential and no membership may carry it."""


class Permission(StrEnum):
    """What an operation asks for, in its first line."""

    TENANCY_READ = "tenancy.read"
    TENANCY_ADMIN = "tenancy.admin"
    TENANCY_SWEEP = "tenancy.sweep"
    AUDIT_READ = "audit.read"
    AUDIT_APPEND = "audit.append"
    EVENTS_READ = "events.read"
    WORK_READ = "work.read"
    WORK_ENQUEUE = "work.enqueue"
    WORK_OPERATE = "work.operate"
    WORK_SETTLE = "work.settle"
    WORK_SWEEP = "work.sweep"
    WEBHOOKS_READ = "webhooks.read"
    WEBHOOKS_ADMIN = "webhooks.admin"
    WEBHOOKS_PUBLISH = "webhooks.publish"
    WEBHOOKS_DELIVER = "webhooks.deliver"
    WEBHOOKS_SWEEP = "webhooks.sweep"


class AppContext(Platform):
    """Which process asks: its type and a version such as `webhook-dispatcher@2026.11.1`."""

    type: AppType
    version: str = Field(min_length=1, max_length=200)


class RequestContext(Platform):
    """The first stage: something was asked, by nobody in particular yet."""

    request_id: UUID = Field(default_factory=new_id)
    app: AppContext
    trace_id: str | None = Field(default=None, max_length=64)
    traceparent: str | None = Field(default=None, max_length=128)
    caused_by_request_id: UUID | None = None


class SecurityContext(Platform):
    """On whose authority: a principal within one org."""

    user_id: UUID
    org_id: UUID
    role: Role
    permissions: frozenset[Permission]
    credential: str = Field(max_length=200)
    """What the authority rests on, for operators: `api_key:<id>`, `claim` or `service`; never a secret."""


class OpContext(RequestContext):
    """The stage that operations run under; built by the tenancy manager alone."""

    security: SecurityContext

    @property
    def org_id(self) -> UUID:
        """The tenant."""
        return self.security.org_id

    @property
    def user_id(self) -> UUID:
        """The principal; `EMPTY_UUID` is the platform."""
        return self.security.user_id

    def require(self, permission: Permission) -> None:
        """Return when the principal holds the permission.

        Raises:
            NotAuthorized: It does not; the sentence names the permission and the role.
        """
        if permission not in self.security.permissions:
            raise NotAuthorized(f"permission {permission} is not held by role {self.security.role}")


class TenantScope(Protocol):
    """For code that needs only the tenant."""

    @property
    def org_id(self) -> UUID:
        """The tenant."""
        ...


class ActorScope(TenantScope, Protocol):
    """For code that needs the tenant and who acts."""

    @property
    def user_id(self) -> UUID:
        """The principal."""
        ...


class RequestScope(Protocol):
    """For code that needs only what asked."""

    @property
    def request_id(self) -> UUID:
        """The request."""
        ...

    @property
    def traceparent(self) -> str | None:
        """The trace that the request is part of, in W3C form."""
        ...


class ProvenanceScope(ActorScope, RequestScope, Protocol):
    """For code that stamps who did something and on which request."""
