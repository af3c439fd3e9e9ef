"""The tenancy manager; the one module that builds a context above the request stage."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import override
from uuid import UUID

from pydantic import AwareDatetime, SecretStr

from headrace.om.base import EMPTY_UUID, Trackable, utcnow
from headrace.om.context import OpContext, Permission, RequestContext, Role, SecurityContext
from headrace.om.encoding import refuse_unreadable_name, refuse_unstorable_instant
from headrace.om.exceptions import Conflict, NotAuthenticated, ValidationFailed
from headrace.om.outbox.rows import entity_row
from headrace.om.paging import all_ids, checked_age, checked_limit
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.exceptions import (
    ApiKeyNotFound,
    LoginNameTaken,
    MembershipExists,
    OrgExists,
    OrgNotFound,
    UserExists,
    UserNotFound,
)
from headrace.om.tenancy.impl.principals import OrgAndUser, PrincipalCache, Principals
from headrace.om.tenancy.manager import TenancyManagerInterface
from headrace.om.tenancy.rules import (
    DEFAULT_PRINCIPAL_TTL,
    ROLE_PERMISSIONS,
    compose_token,
    is_secret_of,
    new_secret,
    parse_token,
    refuse_service_role,
    secret_hash,
    sign_in_role,
)
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.membership import Membership
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.sign_in import SignIn
from headrace.om.tenancy.types.user import User
from headrace.om.tenancy.types.work_origin import WorkOrigin


class TenancyManagerImpl(TenancyManagerInterface):
    """Tenancy over any storage.

    Args:
        storage: Where the records are.
        principal_ttl: For how long the claim path trusts what it learned about an org and a user.
        monotonic: Seconds on a clock that never goes back, for that time.
    """

    def __init__(
        self,
        storage: TenancyStorageInterface,
        *,
        principal_ttl: timedelta = DEFAULT_PRINCIPAL_TTL,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._storage = storage
        self._principals = PrincipalCache(principal_ttl, monotonic)

    @override
    async def authenticate(self, rctx: RequestContext, token: SecretStr) -> OpContext:
        sign_in = await self._sign_in(token.get_secret_value())
        role = None if sign_in is None else sign_in_role(sign_in)
        if sign_in is None or role is None:
            raise NotAuthenticated("the API key is unknown, revoked or out of date")
        credential = f"api_key:{sign_in.key.id}"
        return _operation(rctx, _principal(sign_in.org_id, sign_in.key.user_id, role, credential))

    @override
    async def work_contexts(self, rctx: RequestContext, claims: Sequence[WorkOrigin]) -> tuple[OpContext | None, ...]:
        pairs = [(claim.org_id, claim.created_by) for claim in claims]
        principals = self._principals.known(pairs)
        if unknown := {pair for pair in pairs if pair not in principals}:
            principals |= await self._learn(unknown)
        return tuple(_work_context(rctx, claim, principals[pair]) for claim, pair in zip(claims, pairs, strict=True))

    @override
    async def service_contexts(
        self, rctx: RequestContext, among: Collection[UUID] | None = None
    ) -> tuple[OpContext, ...]:
        live = await all_ids(partial(self._storage.read_live_orgs, among=among))
        return tuple(_service_context(rctx, org_id) for org_id in live)

    @override
    async def deleted_contexts(self, rctx: RequestContext, older_than: timedelta, limit: int) -> tuple[OpContext, ...]:
        orgs = await self._storage.read_deleted_orgs(checked_age(older_than), checked_limit(limit))
        return tuple(_service_context(rctx, org_id) for org_id in orgs)

    @override
    async def create_org(self, rctx: RequestContext, org: Org, owner: User) -> OpContext:
        _refuse_names(org.name, owner.name)
        ctx = _operation(rctx, _principal(org.id, owner.id, Role.OWNER, "bootstrap"))
        org, owner = _stamped(ctx, org, deleted_at=None), _stamped(ctx, owner)
        membership = _stamped(ctx, Membership(user_id=owner.id, role=Role.OWNER))
        named = (("org", org.id), ("user", owner.id), ("membership", membership.id))
        rows = [entity_row(ctx, entity, entity_id, "created") for entity, entity_id in named]
        outcome = await self._storage.create_org(org.id, org, owner, membership, rows)
        if outcome is InsertOutcome.ID_EXISTS:
            raise OrgExists(f"org {org.id}, or user {owner.id} as its owner, exists already")
        _refuse_taken_login(outcome, owner)
        self._principals.forget(org.id)
        return ctx

    @override
    async def get_org(self, ctx: OpContext) -> Org:
        ctx.require(Permission.TENANCY_READ)
        org = await self._storage.read_org(ctx.org_id)
        if org is None or org.deleted_at is not None:
            raise OrgNotFound(f"org {ctx.org_id} is not there")
        return org

    @override
    async def delete_org(self, ctx: OpContext) -> None:
        ctx.require(Permission.TENANCY_ADMIN)
        rows = [entity_row(ctx, "org", ctx.org_id, "deleted")]
        is_deleted = await self._storage.delete_org(ctx.org_id, ctx.user_id, rows)
        self._principals.forget(ctx.org_id)
        if not is_deleted:
            raise OrgNotFound(f"org {ctx.org_id} is not there")

    @override
    async def purge_org(self, ctx: OpContext, older_than: timedelta) -> bool:
        ctx.require(Permission.TENANCY_SWEEP)
        return await self._storage.purge_org(ctx.org_id, checked_age(older_than))

    @override
    async def create_user(self, ctx: OpContext, user: User, role: Role) -> User:
        ctx.require(Permission.TENANCY_ADMIN)
        refuse_service_role(role)
        _refuse_names(user.name)
        user, membership = _stamped(ctx, user), _stamped(ctx, Membership(user_id=user.id, role=role))
        named = (("user", user.id), ("membership", membership.id))
        rows = [entity_row(ctx, entity, entity_id, "created") for entity, entity_id in named]
        outcome = await self._storage.create_user(ctx.org_id, user, membership, rows)
        _refuse_taken_login(outcome, user)
        self._principals.forget(ctx.org_id)
        stored = await self._storage.read_user(ctx.org_id, user.id)
        if stored is None:
            raise UserExists(f"user {user.id} exists already, in another org")
        return stored

    @override
    async def get_user(self, ctx: OpContext, user_id: UUID) -> User:
        ctx.require(Permission.TENANCY_READ)
        user = await self._storage.read_user(ctx.org_id, user_id)
        if user is None:
            raise UserNotFound(f"user {user_id} is no member of org {ctx.org_id}")
        return user

    @override
    async def add_member(self, ctx: OpContext, user_id: UUID, role: Role) -> Membership:
        ctx.require(Permission.TENANCY_ADMIN)
        refuse_service_role(role)
        membership = _stamped(ctx, Membership(user_id=user_id, role=role))
        rows = [entity_row(ctx, "membership", membership.id, "created")]
        await self._storage.create_membership(ctx.org_id, membership, rows)
        self._principals.forget(ctx.org_id)
        stored = await self._storage.read_membership(ctx.org_id, user_id)
        if stored is None:
            raise Conflict(f"user {user_id} was removed from org {ctx.org_id} at the same time")
        if stored.role is not role:
            raise MembershipExists(f"user {user_id} is a member of org {ctx.org_id} already, as {stored.role}")
        return stored

    @override
    async def remove_member(self, ctx: OpContext, user_id: UUID) -> None:
        ctx.require(Permission.TENANCY_ADMIN)
        member = await self._storage.read_membership(ctx.org_id, user_id)
        rows = [] if member is None else [entity_row(ctx, "membership", member.id, "deleted")]
        if not await self._storage.delete_membership(ctx.org_id, user_id, ctx.user_id, rows):
            raise UserNotFound(f"user {user_id} is no member of org {ctx.org_id}")
        self._principals.forget(ctx.org_id)

    @override
    async def get_members(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[Membership, ...]:
        ctx.require(Permission.TENANCY_READ)
        return await self._storage.read_memberships(ctx.org_id, checked_limit(limit), after)

    @override
    async def issue_api_key(
        self, ctx: OpContext, name: str, role: Role, expires_at: AwareDatetime | None = None
    ) -> tuple[ApiKey, SecretStr]:
        ctx.require(Permission.TENANCY_ADMIN)
        refuse_service_role(role)
        _refuse_names(name)
        if expires_at is not None:
            refuse_unstorable_instant("expires_at", expires_at)
        secret = new_secret()
        fields = {"name": name, "role": role, "expires_at": expires_at, "user_id": ctx.user_id}
        key = _stamped(ctx, ApiKey.model_validate(fields | {"secret_hash": secret_hash(secret)}))
        rows = [entity_row(ctx, "api_key", key.id, "created")]
        if await self._storage.create_api_key(ctx.org_id, key, rows) is not InsertOutcome.INSERTED:
            raise Conflict(f"API key {key.id} exists already")
        return key, SecretStr(compose_token(key.id, secret))

    @override
    async def revoke_api_key(self, ctx: OpContext, key_id: UUID) -> ApiKey:
        ctx.require(Permission.TENANCY_ADMIN)
        rows = [entity_row(ctx, "api_key", key_id, "updated")]
        key = await self._storage.revoke_api_key(ctx.org_id, key_id, ctx.user_id, rows)
        if key is None:
            raise ApiKeyNotFound(f"API key {key_id} is not there")
        return key

    @override
    async def get_api_keys(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[ApiKey, ...]:
        ctx.require(Permission.TENANCY_READ)
        return await self._storage.read_api_keys(ctx.org_id, checked_limit(limit), after)

    async def _sign_in(self, token: str) -> SignIn | None:
        parsed = parse_token(token)
        if parsed is None:
            return None
        key_id, secret = parsed
        found = await self._storage.read_sign_in(key_id)
        return found if found is not None and is_secret_of(found.key.secret_hash, secret) else None

    async def _learn(self, pairs: Iterable[OrgAndUser]) -> Principals:
        """Ask the storage what work of these pairs runs as, and remember it."""
        read_at = self._principals.now()
        members = await self._storage.read_work_members(asked := list(pairs))
        principals: Principals = {pair: _work_principal(pair, members.get(pair)) for pair in asked}
        self._principals.keep(read_at, principals)
        return principals


def _principal(org_id: UUID, user_id: UUID, role: Role, credential: str) -> SecurityContext:
    return SecurityContext(
        org_id=org_id, user_id=user_id, role=role, permissions=ROLE_PERMISSIONS[role], credential=credential
    )


def _work_principal(pair: OrgAndUser, is_member: bool | None) -> SecurityContext | None:  # noqa: FBT001 - three answers: a member, none, no org
    if is_member is None:
        return None
    org_id, user_id = pair
    return _principal(org_id, user_id if is_member else EMPTY_UUID, Role.SERVICE, "claim")


def _service_context(rctx: RequestContext, org_id: UUID) -> OpContext:
    return _operation(rctx, _principal(org_id, EMPTY_UUID, Role.SERVICE, "service"))


def _operation(rctx: RequestContext, security: SecurityContext) -> OpContext:
    return OpContext(
        request_id=rctx.request_id,
        app=rctx.app,
        trace_id=rctx.trace_id,
        traceparent=rctx.traceparent,
        caused_by_request_id=rctx.caused_by_request_id,
        security=security,
    )


def _work_context(rctx: RequestContext, origin: WorkOrigin, security: SecurityContext | None) -> OpContext | None:
    if security is None:
        return None
    # Validating is faster than `model_construct` here: 4 microseconds against 7.
    return OpContext(
        request_id=rctx.request_id,
        app=rctx.app,
        trace_id=rctx.trace_id,
        traceparent=rctx.traceparent or origin.traceparent,
        caused_by_request_id=origin.request_id,
        security=security,
    )


def _stamped[Entity: Trackable](ctx: OpContext, entity: Entity, **changes: object) -> Entity:
    now = utcnow()
    provenance = {"created_at": now, "created_by": ctx.user_id, "updated_at": now, "updated_by": ctx.user_id}
    return entity.with_changes(**provenance | changes)


def _refuse_names(*names: str) -> None:
    for name in names:
        if not 1 <= len(name) <= 100:  # noqa: PLR2004 - as `Named` has it
            raise ValidationFailed("name", "1 to 100 characters")
        refuse_unreadable_name("name", name)


def _refuse_taken_login(outcome: InsertOutcome, user: User) -> None:
    if outcome is InsertOutcome.KEY_EXISTS:
        raise LoginNameTaken(f"login name {user.login_name} is taken")
