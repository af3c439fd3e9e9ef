"""The tenancy manager over memory: administration."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from pydantic import ValidationError

from headrace.om.base import EMPTY_UUID, new_id, utcnow
from headrace.om.context import AppContext, AppType, OpContext, Permission, RequestContext, Role
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.clock import wall_clock
from headrace.om.tenancy.exceptions import (
    ApiKeyNotFound,
    LoginNameTaken,
    MembershipExists,
    OrgExists,
    OrgNotFound,
    UserExists,
    UserNotFound,
)
from headrace.om.tenancy.impl.manager import TenancyManagerImpl
from headrace.om.tenancy.storage.impl.memory import TenancyStorageMemoryImpl
from om.tests.contracts.tenancy_storage import org, user

BEGINNING_OF_TIME = datetime.min.replace(tzinfo=UTC)
"""Comes back from PostgreSQL without a zone, which no entity takes."""

type Change = tuple[UUID, str, str]


@pytest.fixture
def rctx() -> RequestContext:
    return RequestContext(app=AppContext(type=AppType.TEST, version="tests"), traceparent="00-1-2-01")


@pytest.fixture
def outbox() -> OutboxStorageMemoryImpl:
    return OutboxStorageMemoryImpl()


@pytest.fixture
def tenancy(outbox: OutboxStorageMemoryImpl) -> TenancyManagerImpl:
    return TenancyManagerImpl(TenancyStorageMemoryImpl(outbox, wall_clock))


@pytest.fixture
async def owner(tenancy: TenancyManagerImpl, rctx: RequestContext) -> OpContext:
    return await tenancy.create_org(rctx, org(), user())


@pytest.fixture
async def stranger(tenancy: TenancyManagerImpl, rctx: RequestContext) -> OpContext:
    return await tenancy.create_org(rctx, org(), user())


@pytest.fixture
async def viewer(tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext) -> OpContext:
    _, token = await tenancy.issue_api_key(owner, "viewer", Role.VIEWER)
    return await tenancy.authenticate(rctx, token)


async def changes(outbox: OutboxStorageMemoryImpl) -> list[Change]:
    """What the outbox was told since it was asked last: the tenant, the entity and the change."""
    taken = await outbox.take_pending(100, timedelta(hours=1))
    return [
        (org_id, row.payload["entity"], row.payload["change"]) for org_id, row in taken if isinstance(row, OutboxRow)
    ]


async def test_the_owner_is_signed_as_the_maker_when_an_org_is_created(
    tenancy: TenancyManagerImpl, rctx: RequestContext
) -> None:
    instants = {"created_at": BEGINNING_OF_TIME, "updated_at": BEGINNING_OF_TIME}
    wanted, first = org(created_by=new_id(), deleted_at=utcnow(), **instants), user(**instants)
    began_at = utcnow()
    ctx = await tenancy.create_org(rctx, wanted, first)
    stored = await tenancy.get_org(ctx)
    assert (stored.created_by, stored.updated_by, stored.deleted_at) == (first.id, first.id, None)
    assert stored.id == wanted.id
    assert began_at <= stored.created_at == stored.updated_at <= utcnow()
    assert (ctx.org_id, ctx.user_id, ctx.security.role) == (wanted.id, first.id, Role.OWNER)
    assert (ctx.request_id, ctx.traceparent) == (rctx.request_id, rctx.traceparent)
    owner = await tenancy.get_user(ctx, first.id)
    assert (owner.login_name, owner.created_by, owner.updated_by) == (first.login_name, first.id, first.id)
    assert began_at <= owner.created_at == owner.updated_at <= utcnow()


async def test_a_second_org_is_refused_when_its_id_or_login_name_is_taken(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    first = await tenancy.get_user(owner, owner.user_id)
    with pytest.raises(OrgExists):
        await tenancy.create_org(rctx, org(id=owner.org_id), user())
    with pytest.raises(LoginNameTaken, match=first.login_name):
        await tenancy.create_org(rctx, org(), user(login_name=first.login_name))


async def test_every_write_tells_the_outbox(
    tenancy: TenancyManagerImpl, outbox: OutboxStorageMemoryImpl, owner: OpContext
) -> None:
    made = await changes(outbox)
    added = await tenancy.create_user(owner, user(), Role.MEMBER)
    await tenancy.remove_member(owner, added.id)
    await tenancy.add_member(owner, added.id, Role.VIEWER)
    key, _ = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    await tenancy.revoke_api_key(owner, key.id)
    await tenancy.delete_org(owner)
    said = made + await changes(outbox)
    assert [org_id for org_id, _, _ in said] == [owner.org_id] * 10
    assert [(entity, change) for _, entity, change in said] == [
        ("org", "created"),
        ("user", "created"),
        ("membership", "created"),
        ("user", "created"),
        ("membership", "created"),
        ("membership", "deleted"),
        ("membership", "created"),
        ("api_key", "created"),
        ("api_key", "updated"),
        ("org", "deleted"),
    ]


async def test_an_outbox_row_names_who_wrote_and_on_which_request(
    tenancy: TenancyManagerImpl, outbox: OutboxStorageMemoryImpl, owner: OpContext
) -> None:
    await changes(outbox)
    key, _ = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    ((_, row),) = await outbox.take_pending(10, timedelta(hours=1))
    assert isinstance(row, OutboxRow)
    assert (row.actor_id, row.request_id, row.traceparent) == (owner.user_id, owner.request_id, owner.traceparent)
    assert row.payload["entity_id"] == str(key.id)


async def test_a_viewer_reads_and_writes_nothing(
    tenancy: TenancyManagerImpl, outbox: OutboxStorageMemoryImpl, viewer: OpContext
) -> None:
    await changes(outbox)
    assert (await tenancy.get_org(viewer)).id == viewer.org_id
    writes = (
        tenancy.create_user(viewer, user(), Role.VIEWER),
        tenancy.add_member(viewer, viewer.user_id, Role.OWNER),
        tenancy.remove_member(viewer, viewer.user_id),
        tenancy.issue_api_key(viewer, "more", Role.OWNER),
        tenancy.revoke_api_key(viewer, new_id()),
        tenancy.delete_org(viewer),
    )
    for write in writes:
        with pytest.raises(NotAuthorized, match=r"tenancy\.admin"):
            await write
    assert await changes(outbox) == []


async def test_reads_are_refused_without_their_permission(tenancy: TenancyManagerImpl, owner: OpContext) -> None:
    security = owner.security.with_changes(permissions=frozenset({Permission.WORK_READ}))
    ctx = owner.with_changes(security=security)
    reads = (
        tenancy.get_org(ctx),
        tenancy.get_user(ctx, ctx.user_id),
        tenancy.get_members(ctx, 10),
        tenancy.get_api_keys(ctx, 10),
    )
    for read in reads:
        with pytest.raises(NotAuthorized, match=r"tenancy\.read"):
            await read


async def test_the_service_role_is_refused_wherever_a_role_is_given(
    tenancy: TenancyManagerImpl, outbox: OutboxStorageMemoryImpl, owner: OpContext
) -> None:
    await changes(outbox)
    attempts = (
        tenancy.create_user(owner, user(), Role.SERVICE),
        tenancy.add_member(owner, new_id(), Role.SERVICE),
        tenancy.issue_api_key(owner, "robot", Role.SERVICE),
    )
    for attempt in attempts:
        with pytest.raises(ValidationFailed, match="service is for the platform's own processes alone"):
            await attempt
    assert await changes(outbox) == []


@pytest.mark.parametrize("name", ["nul \x00", "", "two\nlines", "end "])
async def test_a_name_is_refused_when_it_does_not_fit(tenancy: TenancyManagerImpl, owner: OpContext, name: str) -> None:
    with pytest.raises(ValidationFailed, match="name: expected"):
        await tenancy.issue_api_key(owner, name, Role.MEMBER)
    if name:
        with pytest.raises(ValidationFailed, match="name: expected"):
            await tenancy.create_user(owner, user(name=name), Role.MEMBER)


@pytest.mark.parametrize("login_name", ["", "Ada", "ada lovelace", "-ada", "a" * 101, "ada\n"])
def test_a_login_name_is_refused_when_it_does_not_fit(login_name: str) -> None:
    with pytest.raises(ValidationError):
        user(login_name=login_name)


async def test_the_first_user_is_read_back_when_it_is_created_again(
    tenancy: TenancyManagerImpl, outbox: OutboxStorageMemoryImpl, owner: OpContext
) -> None:
    wanted = user()
    first = await tenancy.create_user(owner, wanted, Role.VIEWER)
    await changes(outbox)
    assert await tenancy.create_user(owner, wanted.with_changes(name="Another"), Role.OWNER) == first
    roles = {member.user_id: member.role for member in await tenancy.get_members(owner, 10)}
    assert roles[wanted.id] is Role.VIEWER
    assert await changes(outbox) == []


async def test_a_user_is_refused_when_another_org_has_it(
    tenancy: TenancyManagerImpl, owner: OpContext, stranger: OpContext
) -> None:
    theirs = await tenancy.get_user(stranger, stranger.user_id)
    with pytest.raises(UserExists):
        await tenancy.create_user(owner, user(id=theirs.id), Role.OWNER)
    with pytest.raises(LoginNameTaken):
        await tenancy.create_user(owner, user(login_name=theirs.login_name), Role.OWNER)
    assert len(await tenancy.get_members(owner, 10)) == 1


async def test_the_first_membership_is_read_back_when_the_role_is_the_same(
    tenancy: TenancyManagerImpl, owner: OpContext, stranger: OpContext
) -> None:
    first = await tenancy.add_member(owner, stranger.user_id, Role.VIEWER)
    assert await tenancy.add_member(owner, stranger.user_id, Role.VIEWER) == first
    with pytest.raises(MembershipExists, match="as viewer"):
        await tenancy.add_member(owner, stranger.user_id, Role.OWNER)


async def test_a_member_of_another_org_is_not_found(
    tenancy: TenancyManagerImpl, owner: OpContext, stranger: OpContext
) -> None:
    with pytest.raises(UserNotFound):
        await tenancy.get_user(owner, stranger.user_id)
    with pytest.raises(UserNotFound):
        await tenancy.remove_member(owner, stranger.user_id)
    with pytest.raises(UserNotFound):
        await tenancy.add_member(owner, new_id(), Role.VIEWER)


async def test_only_the_hash_of_a_key_is_kept(tenancy: TenancyManagerImpl, owner: OpContext) -> None:
    key, token = await tenancy.issue_api_key(owner, "ci", Role.MEMBER, utcnow() + timedelta(days=1))
    secret = token.get_secret_value().rpartition(key.id.hex)[2].removeprefix("_")
    assert token.get_secret_value() == f"hr_{key.id.hex}_{secret}"
    assert await tenancy.get_api_keys(owner, 10) == (key,)
    assert secret not in repr(key) + repr(token)
    assert secret.encode() not in key.secret_hash
    assert (key.created_by, key.user_id, key.role) == (owner.user_id, owner.user_id, Role.MEMBER)


@pytest.mark.parametrize("expires_at", [datetime.max.replace(tzinfo=UTC), datetime(2027, 1, 1)])  # noqa: DTZ001 - what is refused
async def test_a_key_is_refused_when_its_end_cannot_be_stored(
    tenancy: TenancyManagerImpl, owner: OpContext, expires_at: datetime
) -> None:
    with pytest.raises(ValidationFailed, match="expires_at: expected an instant"):
        await tenancy.issue_api_key(owner, "ci", Role.MEMBER, expires_at)
    assert await tenancy.get_api_keys(owner, 10) == ()


async def test_a_key_stays_revoked_as_it_was_when_it_is_revoked_again(
    tenancy: TenancyManagerImpl, owner: OpContext, stranger: OpContext
) -> None:
    key, _ = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    with pytest.raises(ApiKeyNotFound):
        await tenancy.revoke_api_key(stranger, key.id)
    revoked = await tenancy.revoke_api_key(owner, key.id)
    assert revoked.revoked_at is not None
    assert await tenancy.revoke_api_key(owner, key.id) == revoked


async def test_a_deleted_org_is_not_found(tenancy: TenancyManagerImpl, owner: OpContext) -> None:
    await tenancy.delete_org(owner)
    with pytest.raises(OrgNotFound):
        await tenancy.get_org(owner)
    with pytest.raises(OrgNotFound):
        await tenancy.delete_org(owner)


async def test_a_deleted_org_may_be_made_again_once_it_was_purged(
    tenancy: TenancyManagerImpl, outbox: OutboxStorageMemoryImpl, rctx: RequestContext
) -> None:
    wanted, first = org(), user()
    owner = await tenancy.create_org(rctx, wanted, first)
    await tenancy.delete_org(owner)
    (service,) = await tenancy.deleted_contexts(rctx, timedelta(0), 10)
    assert not await tenancy.purge_org(service, timedelta(0)), "its changes are not told yet"
    for org_id, row in await outbox.take_pending(100, timedelta(hours=1)):
        await outbox.mark_done(org_id, [row.id])
    await outbox.purge_done(timedelta(0), 100)
    assert not await tenancy.purge_org(service, timedelta(hours=1))
    assert await tenancy.purge_org(service, timedelta(0))
    assert (await tenancy.create_org(rctx, wanted, first)).org_id == owner.org_id


async def test_an_owner_may_not_purge_an_org(tenancy: TenancyManagerImpl, owner: OpContext) -> None:
    await tenancy.delete_org(owner)
    with pytest.raises(NotAuthorized, match=str(Permission.TENANCY_SWEEP)):
        await tenancy.purge_org(owner, timedelta(0))


@pytest.mark.parametrize("limit", [0, 1001])
async def test_a_page_is_refused_when_its_limit_is_out_of_range(
    tenancy: TenancyManagerImpl, owner: OpContext, limit: int
) -> None:
    with pytest.raises(ValidationFailed, match="limit: expected 1 to 1000"):
        await tenancy.get_members(owner, limit)
    with pytest.raises(ValidationFailed, match="limit: expected 1 to 1000"):
        await tenancy.get_api_keys(owner, limit)


async def test_the_platforms_key_is_the_orgs_own(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    (service,) = await tenancy.service_contexts(rctx)
    key, token = await tenancy.issue_api_key(service, "ci", Role.MEMBER)
    await tenancy.remove_member(owner, owner.user_id)
    assert key.user_id == EMPTY_UUID
    assert (await tenancy.authenticate(rctx, token)).user_id == EMPTY_UUID
