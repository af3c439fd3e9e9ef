"""The whole worker over PostgreSQL, within this process: from publish to the receiver and to the settled item."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from pydantic import SecretStr

from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.root import Managers
from headrace.om.storage.settings import StorageSettings
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus
from headrace.workers.webhook_dispatcher.container import WorkerContainer
from headrace.workers.webhook_dispatcher.process import WebhookDispatcherProcess
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings
from om.tests.contracts.tenancy_storage import org, user
from tests.fixtures.http_receiver import Behaviour, Exchange, answering, listening

PATIENCE = 30
POLL = 0.05

pytestmark = pytest.mark.servers


@pytest.fixture
def settings(
    storage_settings: StorageSettings,
    signing_secret: SecretStr,
    secret_variable: str,
    monkeypatch: pytest.MonkeyPatch,
) -> WebhookDispatcherSettings:
    monkeypatch.setenv(secret_variable, signing_secret.get_secret_value())
    own = {
        "service": "webhook-dispatcher",
        "capacity": 4,
        "database_control_pool_size": 3,
        "metrics_port": 0,
        "allow_private_addresses": True,
        "poll_interval": timedelta(milliseconds=200),
        "retry_base": timedelta(milliseconds=10),
    }
    return WebhookDispatcherSettings.model_validate(storage_settings.model_dump() | own)


@asynccontextmanager
async def running(settings: WebhookDispatcherSettings) -> AsyncIterator[Managers]:
    """The worker, from its start to its graceful stop."""
    container = WorkerContainer.build(settings)
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(WebhookDispatcherProcess(settings, container).build_runtime().run(stop))
        yield container.parts.managers
        stop.set()


def answering_in_turn(*statuses: int) -> Behaviour:
    """The receiver answers each of the statuses."""
    left = [answering(status) for status in statuses]

    async def answer(exchange: Exchange) -> None:
        await left.pop(0)(exchange)

    return answer


async def settled(managers: Managers, ctx: OpContext) -> WorkItem:
    """Waits until the tenant's only item is settled."""
    async with asyncio.timeout(PATIENCE):
        while True:
            items = await managers.work.get_items(ctx, WorkFilter(), 10)
            if [each.status for each in items if each.status in SETTLED_STATUSES]:
                return items[0]
            await asyncio.sleep(POLL)


async def tenant_with_endpoint(managers: Managers, org_id: UUID, url: str) -> tuple[OpContext, WebhookEndpoint]:
    rctx = RequestContext(app=AppContext(type=AppType.TEST, version="tests"))
    ctx = await managers.tenancy.create_org(rctx, org(id=org_id), user())
    reference = f"env:{secret_name(org_id, 'HOOK')}"
    wanted = WebhookEndpoint(name="receiver", url=url, secret_reference=reference)
    return ctx, await managers.webhooks.add_endpoint(ctx, wanted)


async def test_message_is_delivered_and_its_item_done_when_the_receiver_takes_it_at_the_second_try(
    settings: WebhookDispatcherSettings, org_id: UUID
) -> None:
    async with listening() as receiver, running(settings) as managers:
        receiver.behaviour = answering_in_turn(503, 200)
        ctx, _ = await tenant_with_endpoint(managers, org_id, f"http://127.0.0.1:{receiver.port}/hook")
        published = await managers.webhooks.publish(ctx, "order.created", "{}")
        item = await settled(managers, ctx)
    assert (item.status, item.attempts) == (WorkStatus.DONE, 2)
    assert item.result["status"] == 200
    ids = [each.header("webhook-id") for each in receiver.exchanges]
    assert ids == [published.deliveries[0].idempotency_key] * 2


async def test_endpoint_is_disabled_and_its_item_failed_when_the_receiver_is_gone(
    settings: WebhookDispatcherSettings, org_id: UUID
) -> None:
    async with listening() as receiver, running(settings) as managers:
        receiver.behaviour = answering_in_turn(410)
        ctx, endpoint = await tenant_with_endpoint(managers, org_id, f"http://127.0.0.1:{receiver.port}/hook")
        await managers.webhooks.publish(ctx, "order.created", "{}")
        item = await settled(managers, ctx)
        stored = await managers.webhooks.get_endpoint(ctx, endpoint.id)
    assert (item.status, item.error_code) == (WorkStatus.FAILED, "endpoint_gone")
    assert not stored.enabled
