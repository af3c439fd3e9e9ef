"""The audit manager over memory."""

import pytest
from pydantic import ValidationError

from headrace.om.audit.impl.manager import AuditManagerImpl
from headrace.om.audit.rules import MAX_DETAILS_BYTES
from headrace.om.audit.storage.impl.memory import AuditStorageMemoryImpl
from headrace.om.audit.types.audit_entry import AuditFilter
from headrace.om.base import new_id
from headrace.om.context import AppContext, AppType, OpContext, Permission, Role, SecurityContext
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.paging import MAX_PAGE
from headrace.om.storage.outcomes import InsertOutcome
from om.tests.contracts.audit_storage import audit_entry

ALL = AuditFilter()


def context(*permissions: Permission) -> OpContext:
    security = SecurityContext(
        user_id=new_id(), org_id=new_id(), role=Role.SERVICE, permissions=frozenset(permissions), credential="claim"
    )
    return OpContext(app=AppContext(type=AppType.TEST, version="tests"), security=security)


@pytest.fixture
def audit() -> AuditManagerImpl:
    return AuditManagerImpl(AuditStorageMemoryImpl())


@pytest.fixture
def ctx() -> OpContext:
    return context(Permission.AUDIT_APPEND, Permission.AUDIT_READ)


async def test_an_entry_is_signed_by_the_context_whatever_the_caller_sent(
    audit: AuditManagerImpl, ctx: OpContext
) -> None:
    sent = audit_entry(created_by=new_id(), request_id=new_id())
    assert await audit.append(ctx, sent) is InsertOutcome.INSERTED
    signed = sent.with_changes(created_by=ctx.user_id, request_id=ctx.request_id)
    assert await audit.get_entries(ctx, ALL, 10) == (signed,)


async def test_a_repeated_id_is_reported_and_changes_nothing(audit: AuditManagerImpl, ctx: OpContext) -> None:
    entry = audit_entry()
    await audit.append(ctx, entry)
    before = await audit.get_entries(ctx, ALL, 10)
    assert await audit.append(ctx, entry.with_changes(action="work.retry")) is InsertOutcome.ID_EXISTS
    assert await audit.get_entries(ctx, ALL, 10) == before


async def test_nothing_is_appended_or_read_without_the_permission(audit: AuditManagerImpl, ctx: OpContext) -> None:
    reader = ctx.with_changes(security=ctx.security.with_changes(permissions=frozenset({Permission.AUDIT_READ})))
    with pytest.raises(NotAuthorized, match=r"audit\.append"):
        await audit.append(reader, audit_entry())
    assert await audit.get_entries(reader, ALL, 10) == ()
    with pytest.raises(NotAuthorized, match=r"audit\.read"):
        await audit.get_entries(context(Permission.AUDIT_APPEND), ALL, 10)


async def test_entries_of_many_tenants_are_signed_each_by_its_own_context(audit: AuditManagerImpl) -> None:
    both = [context(Permission.AUDIT_APPEND, Permission.AUDIT_READ) for _ in range(2)]
    sent = [(each, audit_entry()) for each in both]
    assert await audit.append_many(sent) == (InsertOutcome.INSERTED, InsertOutcome.INSERTED)
    for each, entry in sent:
        signed = entry.with_changes(created_by=each.user_id, request_id=each.request_id)
        assert await audit.get_entries(each, ALL, 10) == (signed,)


async def test_no_entry_is_appended_when_one_of_many_may_not_be_or_cannot_be_stored(
    audit: AuditManagerImpl, ctx: OpContext
) -> None:
    with pytest.raises(NotAuthorized, match=r"audit\.append"):
        await audit.append_many([(ctx, audit_entry()), (context(), audit_entry())])
    with pytest.raises(ValidationFailed, match="details"):
        await audit.append_many([(ctx, audit_entry()), (ctx, audit_entry(details={"a": "\x00"}))])
    with pytest.raises(ValidationFailed, match="entries: expected at most 1000"):
        await audit.append_many([(ctx, audit_entry())] * (MAX_PAGE + 1))
    assert await audit.get_entries(ctx, ALL, 10) == ()


async def test_another_tenants_entries_are_not_found(audit: AuditManagerImpl, ctx: OpContext) -> None:
    await audit.append(ctx, audit_entry())
    assert await audit.get_entries(context(Permission.AUDIT_READ), ALL, 10) == ()


@pytest.mark.parametrize("details", [{"a": "\x00"}, {"a": "\ud800"}, {"a": object()}, {"a": "x" * MAX_DETAILS_BYTES}])
async def test_an_entry_is_refused_when_its_details_cannot_be_stored(
    audit: AuditManagerImpl, ctx: OpContext, details: dict[str, object]
) -> None:
    with pytest.raises(ValidationFailed, match="details"):
        await audit.append(ctx, audit_entry(details=details))
    assert await audit.get_entries(ctx, ALL, 10) == ()


@pytest.mark.parametrize("limit", [0, 1001])
async def test_a_page_is_refused_when_its_limit_is_out_of_range(
    audit: AuditManagerImpl, ctx: OpContext, limit: int
) -> None:
    with pytest.raises(ValidationFailed, match="limit"):
        await audit.get_entries(ctx, ALL, limit)


@pytest.mark.parametrize("action", ["dead_letter", "Work.dead_letter", "work.", "work.dead letter"])
def test_an_action_is_refused_when_it_does_not_name_its_area(action: str) -> None:
    with pytest.raises(ValidationError):
        audit_entry(action=action)
