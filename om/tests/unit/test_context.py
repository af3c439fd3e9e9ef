"""Contexts: what a principal may do, and which stages satisfy which scopes."""

import pytest
from pydantic import ValidationError

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.context import (
    ActorScope,
    AppContext,
    AppType,
    OpContext,
    Permission,
    ProvenanceScope,
    RequestContext,
    RequestScope,
    Role,
    SecurityContext,
    TenantScope,
)
from headrace.om.exceptions import NotAuthorized

APP = AppContext(type=AppType.TEST, version="tests@0")


def op_context(*permissions: Permission) -> OpContext:
    security = SecurityContext(
        user_id=new_id(),
        org_id=new_id(),
        role=Role.MEMBER,
        permissions=frozenset(permissions),
        credential="service",
    )
    return OpContext(app=APP, security=security)


def test_an_operation_goes_on_when_the_permission_is_held() -> None:
    op_context(Permission.WORK_READ, Permission.WORK_ENQUEUE).require(Permission.WORK_READ)


@pytest.mark.parametrize("permission", list(Permission))
def test_an_operation_is_refused_when_nothing_is_held(permission: Permission) -> None:
    with pytest.raises(NotAuthorized, match=f"permission {permission} is not held by role member"):
        op_context().require(permission)


def test_a_context_names_its_tenant_and_its_principal() -> None:
    ctx = op_context()
    assert (ctx.org_id, ctx.user_id) == (ctx.security.org_id, ctx.security.user_id)


def test_an_operation_serves_every_scope() -> None:
    ctx = op_context()
    tenant: TenantScope = ctx
    actor: ActorScope = ctx
    request: RequestScope = ctx
    provenance: ProvenanceScope = ctx
    assert {tenant.org_id, actor.org_id, provenance.org_id} == {ctx.org_id}
    assert {request.request_id, provenance.request_id} == {ctx.request_id}


def test_a_request_has_an_id_of_its_own_and_no_principal() -> None:
    first, second = RequestContext(app=APP), RequestContext(app=APP)
    assert first.request_id != second.request_id
    assert not hasattr(first, "security")


def test_an_operation_cannot_be_made_without_authority() -> None:
    with pytest.raises(ValidationError, match="security"):
        OpContext.model_validate({"app": APP})


def test_a_context_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        op_context().security.org_id = EMPTY_UUID  # type: ignore[misc]  # what must not work


def test_the_text_of_a_context_is_bounded() -> None:
    with pytest.raises(ValidationError):
        RequestContext(app=APP, traceparent="x" * 129)
