"""The webhooks manager over memory."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.base import EMPTY_UUID, new_id, utcnow
from headrace.om.context import AppContext, AppType, OpContext, Permission, RequestContext, Role
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.webhooks.exceptions import (
    TooManyWebhookEndpoints,
    WebhookEndpointNotFound,
    WebhookMessageDiffers,
    WebhookMessageNotFound,
)
from headrace.om.webhooks.rules import MAX_ENDPOINTS, secret_name
from headrace.om.webhooks.types.delivery import DELIVERY_LANE, FailurePolicy
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkItem
from om.tests.contracts.tenancy_storage import org, user
from om.tests.contracts.webhooks_storage import ODD_BODY, endpoint_with

EVENT = "order.created"
AT_ONCE = FailurePolicy(max_consecutive_failures=3, max_failing_for=timedelta(0))
AFTER_A_DAY = FailurePolicy(max_consecutive_failures=3, max_failing_for=timedelta(days=1))
BEGINNING_OF_TIME = datetime.min.replace(tzinfo=UTC)
"""Comes back from PostgreSQL without a zone, which no entity takes."""


@pytest.fixture
def rctx() -> RequestContext:
    return RequestContext(app=AppContext(type=AppType.TEST, version="tests"), traceparent="00-1-2-01")


@pytest.fixture
def storage() -> StorageMemoryImpl:
    return StorageMemoryImpl()


@pytest.fixture
def managers(storage: StorageMemoryImpl) -> Managers:
    infra = Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl({}))
    return build_managers(storage, infra)


@pytest.fixture
async def owner(managers: Managers, rctx: RequestContext) -> OpContext:
    return await managers.tenancy.create_org(rctx, org(), user())


@pytest.fixture
async def stranger(managers: Managers, rctx: RequestContext) -> OpContext:
    return await managers.tenancy.create_org(rctx, org(), user())


@pytest.fixture
async def service(managers: Managers, rctx: RequestContext, owner: OpContext) -> OpContext:
    contexts = await managers.tenancy.service_contexts(rctx)
    return next(each for each in contexts if each.org_id == owner.org_id)


def endpoint_of(ctx: OpContext, **fields: Any) -> WebhookEndpoint:  # noqa: ANN401 - any field's value
    """Return a good endpoint, whose secret is the tenant's own."""
    return endpoint_with(**{"secret_reference": f"env:{secret_name(ctx.org_id, 'HOOK')}"} | fields)


async def items_of(managers: Managers, ctx: OpContext) -> tuple[WorkItem, ...]:
    return await managers.work.get_items(ctx, WorkFilter(kind=WorkKind.DELIVER_WEBHOOK), 100)


async def disablings(managers: Managers, ctx: OpContext) -> tuple[AuditEntry, ...]:
    return await managers.audit.get_entries(ctx, AuditFilter(action="webhooks.endpoint_disabled"), 100)


async def test_own_fields_are_overwritten_when_an_endpoint_is_added(managers: Managers, owner: OpContext) -> None:
    wanted = endpoint_of(
        owner,
        enabled=False,
        disabled_reason="x",
        version=7,
        num_consecutive_failures=3,
        failing_since=utcnow(),
        created_by=new_id(),
        created_at=BEGINNING_OF_TIME,
        updated_at=BEGINNING_OF_TIME,
    )
    began_at = utcnow()
    added = await managers.webhooks.add_endpoint(owner, wanted)
    assert (added.enabled, added.disabled_reason, added.version) == (True, None, 1)
    assert (added.num_consecutive_failures, added.failing_since) == (0, None)
    assert added.id == wanted.id
    assert began_at <= added.created_at == added.updated_at <= utcnow()
    assert (added.created_by, added.updated_by) == (owner.user_id, owner.user_id)
    assert await managers.webhooks.get_endpoint(owner, wanted.id) == added


async def test_first_endpoint_is_read_back_when_it_is_added_again(managers: Managers, owner: OpContext) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    disabled = await managers.webhooks.disable_endpoint(owner, endpoint.id, "off")
    assert await managers.webhooks.add_endpoint(owner, endpoint.with_changes(name="again")) == disabled


async def test_endpoint_is_refused_when_its_url_cannot_work(managers: Managers, owner: OpContext) -> None:
    with pytest.raises(ValidationFailed, match="url"):
        await managers.webhooks.add_endpoint(owner, endpoint_of(owner, url="ftp://example.com/"))
    assert await managers.webhooks.get_endpoints(owner) == ()


async def test_endpoint_is_refused_when_it_names_another_tenants_secret(
    managers: Managers, owner: OpContext, stranger: OpContext
) -> None:
    theirs = endpoint_of(stranger)
    with pytest.raises(ValidationFailed, match="secret_reference") as refusal:
        await managers.webhooks.add_endpoint(owner, theirs)
    assert stranger.org_id.hex not in str(refusal.value)
    assert await managers.webhooks.get_endpoints(owner) == ()
    assert (await managers.webhooks.add_endpoint(stranger, theirs)).id == theirs.id


async def test_endpoint_is_refused_when_the_tenant_has_enough(
    managers: Managers, storage: StorageMemoryImpl, owner: OpContext
) -> None:
    for _ in range(MAX_ENDPOINTS):
        await storage.get_webhooks_storage().create_endpoint(owner.org_id, endpoint_with(), ())
    with pytest.raises(TooManyWebhookEndpoints, match=str(MAX_ENDPOINTS)):
        await managers.webhooks.add_endpoint(owner, endpoint_of(owner))


async def test_changes_are_told_when_an_endpoint_is_added_disabled_and_enabled(
    managers: Managers, owner: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    await managers.webhooks.disable_endpoint(owner, endpoint.id, "maintenance")
    await managers.webhooks.enable_endpoint(owner, endpoint.id)
    events = await managers.events.get_events(owner, limit=100)
    told = [each.change for each in events if each.entity_id == endpoint.id]
    assert sorted(told) == ["created", "disabled", "enabled"]


async def test_first_reason_stays_when_an_endpoint_is_disabled_twice(managers: Managers, owner: OpContext) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    first = await managers.webhooks.disable_endpoint(owner, endpoint.id, "first")
    second = await managers.webhooks.disable_endpoint(owner, endpoint.id, "second")
    assert first == second
    assert (second.disabled_reason, second.version) == ("first", 2)


@pytest.mark.parametrize("reason", ["", "x" * 501, "\x00"])
async def test_disabling_is_refused_when_the_reason_does_not_fit(
    managers: Managers, owner: OpContext, reason: str
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    with pytest.raises(ValidationFailed, match="reason"):
        await managers.webhooks.disable_endpoint(owner, endpoint.id, reason)


async def test_failures_are_forgotten_when_an_endpoint_is_enabled_again(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    await managers.webhooks.delivery_failed(service, endpoint, AFTER_A_DAY)
    await managers.webhooks.disable_endpoint(owner, endpoint.id, "off")
    enabled = await managers.webhooks.enable_endpoint(owner, endpoint.id)
    assert (enabled.enabled, enabled.disabled_reason) == (True, None)
    assert (enabled.num_consecutive_failures, enabled.failing_since) == (0, None)


async def test_one_item_is_queued_for_each_wanting_endpoint_when_a_message_is_published(
    managers: Managers, owner: OpContext
) -> None:
    wanting = await managers.webhooks.add_endpoint(owner, endpoint_of(owner, event_types=(EVENT,)))
    any_event = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    await managers.webhooks.add_endpoint(owner, endpoint_of(owner, event_types=("user.invited",)))
    off = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    await managers.webhooks.disable_endpoint(owner, off.id, "off")
    published = await managers.webhooks.publish(owner, EVENT, ODD_BODY)
    items = await items_of(managers, owner)
    assert published.is_new
    assert published.message.num_deliveries == 2
    assert {each.endpoint_id for each in published.deliveries} == {wanting.id, any_event.id}
    assert {each.idempotency_key for each in items} == {each.idempotency_key for each in published.deliveries}
    assert {(each.lane, each.target_id) for each in items} == {(DELIVERY_LANE, published.message.id)}
    assert {each.payload["endpoint_id"] for each in items} == {str(wanting.id), str(any_event.id)}


async def test_body_is_kept_as_it_was_written_when_a_message_is_published(managers: Managers, owner: OpContext) -> None:
    published = await managers.webhooks.publish(owner, EVENT, ODD_BODY)
    message = await managers.webhooks.get_message(owner, published.message.id)
    assert message.body == ODD_BODY
    assert message.body_bytes == len(ODD_BODY.encode())
    assert message.created_by == owner.user_id


async def test_nobody_addressed_is_reported_when_no_endpoint_wants_the_event(
    managers: Managers, owner: OpContext
) -> None:
    published = await managers.webhooks.publish(owner, EVENT, "{}")
    assert (published.is_new, published.deliveries, published.message.num_deliveries) == (True, (), 0)


async def test_repeat_is_reported_and_nothing_is_queued_when_a_message_is_published_again(
    managers: Managers, owner: OpContext
) -> None:
    await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    first = await managers.webhooks.publish(owner, EVENT, "{}", message_id=(message_id := new_id()))
    again = await managers.webhooks.publish(owner, EVENT, "{}", message_id=message_id)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.message == first.message
    assert len(await items_of(managers, owner)) == 1


async def test_one_publish_counts_when_several_publish_one_id_at_once(managers: Managers, owner: OpContext) -> None:
    await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    message_id = new_id()
    published = await asyncio.gather(
        *(managers.webhooks.publish(owner, EVENT, "{}", message_id=message_id) for _ in range(8))
    )
    assert sum(each.is_new for each in published) == 1
    assert len(await items_of(managers, owner)) == 1


@pytest.mark.parametrize(("event_type", "body"), [(EVENT, "[]"), ("order.paid", "{}")])
async def test_publish_is_refused_when_the_id_belongs_to_another_content(
    managers: Managers, owner: OpContext, event_type: str, body: str
) -> None:
    first = await managers.webhooks.publish(owner, EVENT, "{}")
    with pytest.raises(WebhookMessageDiffers):
        await managers.webhooks.publish(owner, event_type, body, message_id=first.message.id)


@pytest.mark.parametrize(("event_type", "body"), [("Order", "{}"), (EVENT, "{")])
async def test_publish_is_refused_when_type_or_body_does_not_fit(
    managers: Managers, owner: OpContext, event_type: str, body: str
) -> None:
    with pytest.raises(ValidationFailed):
        await managers.webhooks.publish(owner, event_type, body)
    assert await managers.webhooks.get_messages(owner) == ()


async def test_endpoint_is_disabled_with_one_audit_entry_when_it_is_gone_twice(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    results = await asyncio.gather(*(managers.webhooks.endpoint_gone(service, endpoint) for _ in range(4)))
    assert {each.enabled for each in results} == {False}
    entries = await disablings(managers, owner)
    assert [(each.target_id, each.details["cause"]) for each in entries] == [(endpoint.id, "gone")]


async def test_endpoint_is_disabled_when_it_is_gone_though_failures_were_counted_meanwhile(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    await managers.webhooks.delivery_failed(service, endpoint, AFTER_A_DAY)
    assert not (await managers.webhooks.endpoint_gone(service, endpoint)).enabled


async def test_endpoint_is_disabled_with_an_audit_entry_when_it_keeps_failing(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    states = [(await managers.webhooks.delivery_failed(service, endpoint, AT_ONCE)).enabled for _ in range(4)]
    assert states == [True, True, False, False]
    (entry,) = await disablings(managers, owner)
    assert (entry.details["cause"], entry.details["num_consecutive_failures"]) == ("failing", 3)
    stored = await managers.webhooks.get_endpoint(owner, endpoint.id)
    assert stored.disabled_reason is not None
    assert "3 attempts" in stored.disabled_reason


async def test_endpoint_stays_enabled_when_it_fails_often_within_a_short_time(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    for _ in range(10):
        endpoint = await managers.webhooks.delivery_failed(service, endpoint, AFTER_A_DAY)
    assert (endpoint.enabled, endpoint.num_consecutive_failures) == (True, 10)
    assert endpoint.updated_by == EMPTY_UUID


async def test_count_starts_anew_when_a_delivery_succeeds(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    failing = await managers.webhooks.delivery_failed(service, endpoint, AFTER_A_DAY)
    await managers.webhooks.delivery_succeeded(service, failing)
    stored = await managers.webhooks.get_endpoint(owner, endpoint.id)
    assert (stored.num_consecutive_failures, stored.failing_since) == (0, None)


async def test_nothing_is_written_when_a_delivery_succeeds_without_failures_before(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    await managers.webhooks.delivery_succeeded(service, endpoint)
    assert await managers.webhooks.get_endpoint(owner, endpoint.id) == endpoint


async def test_delivery_is_message_and_endpoint_when_the_dispatcher_asks(
    managers: Managers, owner: OpContext, service: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    message = (await managers.webhooks.publish(owner, EVENT, "{}")).message
    due = await managers.webhooks.get_delivery(service, message.id, endpoint.id)
    assert (due.message, due.endpoint) == (message, endpoint)


async def test_nothing_is_found_when_another_tenant_asks(
    managers: Managers, owner: OpContext, stranger: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    message = (await managers.webhooks.publish(owner, EVENT, "{}")).message
    with pytest.raises(WebhookEndpointNotFound):
        await managers.webhooks.get_endpoint(stranger, endpoint.id)
    with pytest.raises(WebhookEndpointNotFound):
        await managers.webhooks.disable_endpoint(stranger, endpoint.id, "theirs")
    with pytest.raises(WebhookEndpointNotFound):
        await managers.webhooks.enable_endpoint(stranger, endpoint.id)
    with pytest.raises(WebhookMessageNotFound):
        await managers.webhooks.get_message(stranger, message.id)
    assert await managers.webhooks.get_endpoints(stranger) == ()
    assert await managers.webhooks.get_messages(stranger) == ()


async def _sign_in(managers: Managers, rctx: RequestContext, owner: OpContext, role: Role) -> OpContext:
    _, token = await managers.tenancy.issue_api_key(owner, "tests", role)
    return await managers.tenancy.authenticate(rctx, token)


async def test_viewers_may_look_and_nothing_more_when_they_sign_in(
    managers: Managers, rctx: RequestContext, owner: OpContext
) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    viewer = await _sign_in(managers, rctx, owner, Role.VIEWER)
    assert await managers.webhooks.get_endpoints(viewer) == (endpoint,)
    for call, permission in (
        (managers.webhooks.add_endpoint(viewer, endpoint_of(owner)), Permission.WEBHOOKS_ADMIN),
        (managers.webhooks.enable_endpoint(viewer, endpoint.id), Permission.WEBHOOKS_ADMIN),
        (managers.webhooks.disable_endpoint(viewer, endpoint.id, "x"), Permission.WEBHOOKS_ADMIN),
        (managers.webhooks.publish(viewer, EVENT, "{}"), Permission.WEBHOOKS_PUBLISH),
    ):
        with pytest.raises(NotAuthorized, match=str(permission)):
            await call


async def test_owners_may_not_report_deliveries_when_they_sign_in(managers: Managers, owner: OpContext) -> None:
    endpoint = await managers.webhooks.add_endpoint(owner, endpoint_of(owner))
    for call in (
        managers.webhooks.get_delivery(owner, new_id(), endpoint.id),
        managers.webhooks.endpoint_gone(owner, endpoint),
        managers.webhooks.delivery_failed(owner, endpoint, AT_ONCE),
        managers.webhooks.delivery_succeeded(owner, endpoint),
    ):
        with pytest.raises(NotAuthorized, match=str(Permission.WEBHOOKS_DELIVER)):
            await call


@pytest.mark.parametrize("limit", [0, 1001])
async def test_list_is_refused_when_the_limit_is_out_of_range(managers: Managers, owner: OpContext, limit: int) -> None:
    with pytest.raises(ValidationFailed, match="limit"):
        await managers.webhooks.get_endpoints(owner, limit)
    with pytest.raises(ValidationFailed, match="limit"):
        await managers.webhooks.get_messages(owner, limit)


async def test_pages_go_on_when_the_last_id_is_given(managers: Managers, owner: OpContext) -> None:
    ids = [(await managers.webhooks.publish(owner, EVENT, "{}")).message.id for _ in range(3)]
    first = await managers.webhooks.get_messages(owner, 2)
    rest = await managers.webhooks.get_messages(owner, 2, after=first[-1].id)
    assert [each.id for each in first + rest] == sorted(ids, reverse=True)
