"""The webhooks manager over memory: what the sweep removes."""

from datetime import timedelta

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.context import AppContext, AppType, OpContext, Permission, RequestContext
from headrace.om.exceptions import NotAuthorized
from headrace.om.root import Infra, ManagerOptions, Managers, build_managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.webhooks.exceptions import WebhookMessageNotFound
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from om.tests.contracts.tenancy_storage import org, user
from om.tests.contracts.webhooks_storage import endpoint_with

EVENT = "order.created"
AT_ONCE = timedelta(0)
RCTX = RequestContext(app=AppContext(type=AppType.TEST, version="tests"))


@pytest.fixture
def managers() -> Managers:
    infra = Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl({}))
    return build_managers(StorageMemoryImpl(), infra, ManagerOptions(sweep_limit=2))


@pytest.fixture
async def owner(managers: Managers) -> OpContext:
    return await managers.tenancy.create_org(RCTX, org(), user())


@pytest.fixture
async def endpoint(managers: Managers, owner: OpContext) -> WebhookEndpoint:
    wanted = endpoint_with(secret_reference=f"env:{secret_name(owner.org_id, 'HOOK')}")
    return await managers.webhooks.add_endpoint(owner, wanted)


async def service_of(managers: Managers, ctx: OpContext) -> OpContext:
    contexts = await managers.tenancy.service_contexts(RCTX)
    return next(each for each in contexts if each.org_id == ctx.org_id)


async def test_messages_past_their_retention_are_purged_as_many_as_one_call_may(
    managers: Managers, owner: OpContext
) -> None:
    ids = [(await managers.webhooks.publish(owner, EVENT, "{}")).message.id for _ in range(3)]
    service = await service_of(managers, owner)
    assert await managers.webhooks.purge_messages(service, timedelta(hours=1)) == 0
    assert await managers.webhooks.purge_messages(service, AT_ONCE) == 2
    assert [each.id for each in await managers.webhooks.get_messages(owner)] == ids[2:]


async def test_delivery_finds_no_message_when_it_was_purged(
    managers: Managers, owner: OpContext, endpoint: WebhookEndpoint
) -> None:
    message = (await managers.webhooks.publish(owner, EVENT, "{}")).message
    service = await service_of(managers, owner)
    await managers.webhooks.purge_messages(service, AT_ONCE)
    with pytest.raises(WebhookMessageNotFound):
        await managers.webhooks.get_delivery(service, message.id, endpoint.id)


async def test_only_its_own_records_go_when_a_tenant_is_purged(
    managers: Managers, owner: OpContext, endpoint: WebhookEndpoint
) -> None:
    message = (await managers.webhooks.publish(owner, EVENT, "{}")).message
    other = await service_of(managers, await managers.tenancy.create_org(RCTX, org(), user()))
    assert await managers.webhooks.purge_messages(other, AT_ONCE) == 0
    assert await managers.webhooks.purge_endpoints(other) == 0
    assert await managers.webhooks.get_endpoints(owner) == (endpoint,)
    assert await managers.webhooks.get_message(owner, message.id) == message


async def test_owners_may_not_purge_when_they_sign_in(managers: Managers, owner: OpContext) -> None:
    for call in (managers.webhooks.purge_messages(owner, AT_ONCE), managers.webhooks.purge_endpoints(owner)):
        with pytest.raises(NotAuthorized, match=str(Permission.WEBHOOKS_SWEEP)):
            await call
