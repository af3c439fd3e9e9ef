"""The transitions that build contexts, over memory."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import override
from uuid import UUID

import pytest
from pydantic import SecretStr

from headrace.om import paging
from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.context import AppContext, AppType, OpContext, RequestContext, Role
from headrace.om.exceptions import NotAuthenticated, ValidationFailed
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.tenancy.impl.manager import TenancyManagerImpl
from headrace.om.tenancy.impl.principals import PrincipalCache
from headrace.om.tenancy.rules import ROLE_PERMISSIONS
from headrace.om.tenancy.storage.impl.memory import TenancyStorageMemoryImpl
from headrace.om.tenancy.types.work_origin import WorkOrigin
from om.tests.contracts.tenancy_storage import org, user

TTL = timedelta(seconds=5)


class HandClock:
    """The database's clock and the monotonic one, moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, tzinfo=UTC)

    def wall(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.now.timestamp()


class CountingStorage(TenancyStorageMemoryImpl):
    """Memory that tells how often and for how many pairs it was asked on the claim path."""

    asked: list[int]

    @override
    async def read_work_members(self, pairs: Sequence[tuple[UUID, UUID]]) -> Mapping[tuple[UUID, UUID], bool]:
        self.asked.append(len(pairs))
        return await super().read_work_members(pairs)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def storage(clock: HandClock) -> CountingStorage:
    made = CountingStorage(OutboxStorageMemoryImpl(clock.wall), clock.wall)
    made.asked = []
    return made


@pytest.fixture
def tenancy(storage: CountingStorage, clock: HandClock) -> TenancyManagerImpl:
    return TenancyManagerImpl(storage, principal_ttl=TTL, monotonic=clock.monotonic)


@pytest.fixture
def rctx() -> RequestContext:
    app = AppContext(type=AppType.WORKER, version="webhook-dispatcher@2026.11.1")
    return RequestContext(app=app, trace_id="7" * 32)


@pytest.fixture
async def owner(tenancy: TenancyManagerImpl, rctx: RequestContext) -> OpContext:
    return await tenancy.create_org(rctx, org(), user())


def origin(org_id: UUID, created_by: UUID = EMPTY_UUID, traceparent: str | None = None) -> WorkOrigin:
    return WorkOrigin(org_id, created_by, new_id(), traceparent)


async def test_a_token_signs_in_to_its_org_as_its_user(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    key, token = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    ctx = await tenancy.authenticate(rctx, token)
    assert (ctx.org_id, ctx.user_id) == (owner.org_id, owner.user_id)
    assert (ctx.request_id, ctx.app, ctx.trace_id) == (rctx.request_id, rctx.app, rctx.trace_id)
    assert (ctx.security.role, ctx.security.credential) == (Role.MEMBER, f"api_key:{key.id}")
    assert ctx.security.permissions == ROLE_PERMISSIONS[Role.MEMBER]


async def test_a_key_may_no_more_than_its_member_when_that_one_was_demoted(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    second = await tenancy.create_user(owner, user(), Role.OWNER)
    (service,) = await tenancy.service_contexts(rctx)
    as_second = service.with_changes(security=service.security.with_changes(user_id=second.id))
    await tenancy.remove_member(owner, second.id)
    await tenancy.add_member(owner, second.id, Role.VIEWER)
    _, token = await tenancy.issue_api_key(as_second, "ci", Role.OWNER)
    assert (await tenancy.authenticate(rctx, token)).security.role is Role.VIEWER


async def test_every_bad_token_is_refused_with_the_same_sentence(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext, clock: HandClock
) -> None:
    key, token = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    revoked, ended_token = await tenancy.issue_api_key(owner, "ended", Role.MEMBER)
    await tenancy.revoke_api_key(owner, revoked.id)
    _, old_token = await tenancy.issue_api_key(owner, "old", Role.MEMBER, clock.now + TTL)
    clock.now += TTL
    text = token.get_secret_value()
    wrong_secret, wrong_id = f"{text[:-43]}{'A' * 43}", text.replace(key.id.hex, new_id().hex)
    bad = [SecretStr(each) for each in ("", "nonsense", wrong_secret, wrong_id)]
    sentences = set()
    for each in [*bad, ended_token, old_token]:
        with pytest.raises(NotAuthenticated) as refused:
            await tenancy.authenticate(rctx, each)
        sentences.add(str(refused.value))
    assert len(sentences) == 1
    assert (await tenancy.authenticate(rctx, token)).org_id == owner.org_id


async def test_nobody_signs_in_when_the_member_has_left_even_after_coming_back(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    _, token = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    await tenancy.remove_member(owner, owner.user_id)
    with pytest.raises(NotAuthenticated):
        await tenancy.authenticate(rctx, token)
    await tenancy.add_member(owner, owner.user_id, Role.OWNER)
    with pytest.raises(NotAuthenticated):
        await tenancy.authenticate(rctx, token)


async def test_nobody_signs_in_when_the_org_was_deleted(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    _, token = await tenancy.issue_api_key(owner, "ci", Role.MEMBER)
    await tenancy.delete_org(owner)
    with pytest.raises(NotAuthenticated):
        await tenancy.authenticate(rctx, token)


async def test_work_runs_as_its_member_with_the_services_authority(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    claim = origin(owner.org_id, owner.user_id)
    (ctx,) = await tenancy.work_contexts(rctx, [claim])
    assert ctx is not None
    assert (ctx.org_id, ctx.user_id) == (owner.org_id, owner.user_id)
    assert (ctx.security.role, ctx.security.credential) == (Role.SERVICE, "claim")
    assert (ctx.request_id, ctx.caused_by_request_id) == (rctx.request_id, claim.request_id)
    assert OpContext.model_validate(ctx.model_dump()) == ctx


async def test_work_runs_as_the_platform_when_its_creator_is_no_member(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    stranger = await tenancy.create_org(rctx, org(), user())
    claims = [origin(owner.org_id, each) for each in (EMPTY_UUID, stranger.user_id, new_id())]
    for ctx in await tenancy.work_contexts(rctx, claims):
        assert ctx is not None
        assert (ctx.org_id, ctx.user_id, ctx.security.role) == (owner.org_id, EMPTY_UUID, Role.SERVICE)


async def test_contexts_come_in_the_order_of_the_claims_with_none_where_the_org_is_gone(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    other = await tenancy.create_org(rctx, org(), user())
    gone = await tenancy.create_org(rctx, org(), user())
    await tenancy.delete_org(gone)
    orgs = [other.org_id, gone.org_id, owner.org_id, new_id(), other.org_id]
    contexts = await tenancy.work_contexts(rctx, [origin(each) for each in orgs])
    found = [None if ctx is None else ctx.org_id for ctx in contexts]
    assert found == [other.org_id, None, owner.org_id, None, other.org_id]
    assert await tenancy.work_contexts(rctx, []) == ()


async def test_the_items_trace_is_taken_when_the_claim_has_none(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    claim = origin(owner.org_id, traceparent="00-item-1-01")
    traced = rctx.with_changes(traceparent="00-claim-1-01")
    (from_item,), (from_claim,) = (
        await tenancy.work_contexts(rctx, [claim]),
        await tenancy.work_contexts(traced, [claim]),
    )
    assert from_item is not None
    assert from_claim is not None
    assert (from_item.traceparent, from_claim.traceparent) == ("00-item-1-01", "00-claim-1-01")


async def test_one_statement_is_made_for_a_batch_and_none_while_it_is_known(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext, storage: CountingStorage, clock: HandClock
) -> None:
    batch = [origin(owner.org_id, owner.user_id), origin(owner.org_id), origin(owner.org_id), origin(new_id())]
    first = await tenancy.work_contexts(rctx, batch)
    assert await tenancy.work_contexts(rctx, batch) == first
    assert storage.asked == [3]
    await tenancy.work_contexts(rctx, [*batch, origin(new_id())])
    assert storage.asked == [3, 1]
    clock.now += TTL
    await tenancy.work_contexts(rctx, batch)
    assert storage.asked == [3, 1, 3]


async def test_what_this_process_changed_shows_at_once(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    added = await tenancy.create_user(owner, user(), Role.MEMBER)
    seen = []
    changes = (
        tenancy.remove_member(owner, added.id),
        tenancy.add_member(owner, added.id, Role.MEMBER),
        tenancy.delete_org(owner),
    )
    for change in changes:
        await tenancy.work_contexts(rctx, [origin(owner.org_id, added.id)])
        await change
        (ctx,) = await tenancy.work_contexts(rctx, [origin(owner.org_id, added.id)])
        seen.append(None if ctx is None else ctx.user_id)
    assert seen == [EMPTY_UUID, added.id, None]


async def test_a_change_elsewhere_shows_when_the_time_has_passed(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext, storage: CountingStorage, clock: HandClock
) -> None:
    claim = origin(owner.org_id, owner.user_id)
    await tenancy.work_contexts(rctx, [claim])
    await storage.delete_org(owner.org_id, EMPTY_UUID, [])
    (still,) = await tenancy.work_contexts(rctx, [claim])
    clock.now += TTL
    assert still is not None
    assert await tenancy.work_contexts(rctx, [claim]) == (None,)


async def test_service_contexts_name_every_live_org_though_its_members_have_left(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext
) -> None:
    other = await tenancy.create_org(rctx, org(), user())
    gone = await tenancy.create_org(rctx, org(), user())
    await tenancy.delete_org(gone)
    await tenancy.remove_member(other, other.user_id)
    contexts = await tenancy.service_contexts(rctx)
    assert [ctx.org_id for ctx in contexts] == sorted([owner.org_id, other.org_id])
    for ctx in contexts:
        assert (ctx.user_id, ctx.security.role, ctx.security.credential) == (EMPTY_UUID, Role.SERVICE, "service")
        assert ctx.request_id == rctx.request_id


async def test_service_contexts_name_every_org_when_there_are_more_than_a_page(
    tenancy: TenancyManagerImpl, rctx: RequestContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_PAGE", 2)
    assert await tenancy.service_contexts(rctx) == ()
    made = []
    for _ in range(4):
        made.append((await tenancy.create_org(rctx, org(), user())).org_id)
        contexts = await tenancy.service_contexts(rctx)
        assert [ctx.org_id for ctx in contexts] == sorted(made)


async def test_deleted_orgs_have_contexts_once_they_were_deleted_long_enough_ago(
    tenancy: TenancyManagerImpl, rctx: RequestContext, owner: OpContext, clock: HandClock
) -> None:
    await tenancy.create_org(rctx, org(), user())
    await tenancy.delete_org(owner)
    clock.now += TTL
    assert await tenancy.deleted_contexts(rctx, TTL, 10) == ()
    clock.now += TTL
    (ctx,) = await tenancy.deleted_contexts(rctx, TTL, 10)
    assert (ctx.org_id, ctx.user_id, ctx.security.role) == (owner.org_id, EMPTY_UUID, Role.SERVICE)
    assert ctx.request_id == rctx.request_id


async def test_no_more_deleted_orgs_are_named_than_a_page_holds(
    tenancy: TenancyManagerImpl, rctx: RequestContext
) -> None:
    with pytest.raises(ValidationFailed, match="limit"):
        await tenancy.deleted_contexts(rctx, TTL, 1001)


def test_the_cache_lets_the_oldest_go_when_it_is_full(clock: HandClock) -> None:
    cache = PrincipalCache(TTL, clock.monotonic, capacity=3)
    pairs = [(new_id(), new_id()) for _ in range(4)]
    for pair in pairs[:3]:
        cache.keep(cache.now(), {pair: None})
    cache.keep(cache.now(), {pairs[0]: None})
    cache.keep(cache.now(), {pairs[3]: None})
    assert set(cache.known(pairs)) == {pairs[0], pairs[2], pairs[3]}


def test_the_cache_remembers_nothing_when_its_time_is_zero(clock: HandClock) -> None:
    cache = PrincipalCache(timedelta(0), clock.monotonic)
    pair = (new_id(), new_id())
    cache.keep(cache.now(), {pair: None})
    assert cache.known([pair]) == {}
