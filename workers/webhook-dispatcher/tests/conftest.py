"""A tenant with an endpoint whose secret is known, over memory, and a way to run one delivery."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from pydantic import SecretStr

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.base import new_id
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.root import Infra, Managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.delivery import DELIVERY_LANE
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.claims import enter_claim
from headrace.workers.kit.held import HeldClaim
from headrace.workers.kit.testing import settings_for_tests
from headrace.workers.webhook_dispatcher.container import WorkerContainer
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings
from om.tests.contracts.tenancy_storage import org, user

type Claimed = tuple[OpContext, WorkItem]


@pytest.fixture
def rctx() -> RequestContext:
    return RequestContext(app=AppContext(type=AppType.TEST, version="tests"))


@pytest.fixture
def signing_secret() -> SecretStr:
    return SecretStr("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


@pytest.fixture
def org_id() -> UUID:
    return new_id()


@pytest.fixture
def secret_variable(org_id: UUID) -> str:
    """The variable of the endpoint's signing secret."""
    return f"HEADRACE_SECRET_{secret_name(org_id, 'HOOK')}"


@pytest.fixture
def environ(signing_secret: SecretStr, secret_variable: str) -> dict[str, str]:
    """The variables that secrets are read from; a test may change them."""
    return {secret_variable: signing_secret.get_secret_value()}


@pytest.fixture
def infra(environ: dict[str, str]) -> Infra:
    return Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl(environ))


@pytest.fixture
def settings() -> WebhookDispatcherSettings:
    return settings_for_tests(
        WebhookDispatcherSettings,
        allow_private_addresses=True,
        post_connect_timeout=timedelta(seconds=5),
        post_read_timeout=timedelta(seconds=5),
        post_total_timeout=timedelta(seconds=10),
        post_max_response_bytes=4096,
        endpoint_failure_limit=3,
        endpoint_failure_period=timedelta(0),
    )


@pytest.fixture
def transport() -> httpx.AsyncBaseTransport | None:
    """What takes the posts: the real one. A module may put another in its place."""
    return None


@pytest.fixture
async def container(
    infra: Infra, settings: WebhookDispatcherSettings, transport: httpx.AsyncBaseTransport | None
) -> AsyncIterator[WorkerContainer]:
    built = WorkerContainer.for_tests(StorageMemoryImpl(), infra, settings=settings, transport=transport)
    async with built.poster:
        yield built


@pytest.fixture
def managers(container: WorkerContainer) -> Managers:
    return container.parts.managers


@pytest.fixture
def handler(container: WorkerContainer) -> WorkHandlerInterface:
    registered = container.parts.registry.find(WorkKind.DELIVER_WEBHOOK)
    assert registered is not None
    assert isinstance(registered.handler, WorkHandlerInterface)
    return registered.handler


@pytest.fixture
async def owner(managers: Managers, rctx: RequestContext, org_id: UUID) -> OpContext:
    return await managers.tenancy.create_org(rctx, org(id=org_id), user())


@pytest.fixture
def url() -> str:
    return "https://receiver.example/hook"


@pytest.fixture
async def endpoint(managers: Managers, owner: OpContext, url: str) -> WebhookEndpoint:
    reference = f"env:{secret_name(owner.org_id, 'HOOK')}"
    wanted = WebhookEndpoint(name="receiver", url=url, secret_reference=reference)
    return await managers.webhooks.add_endpoint(owner, wanted)


@pytest.fixture
def publish(
    managers: Managers, owner: OpContext, rctx: RequestContext, endpoint: WebhookEndpoint
) -> Callable[[str], Awaitable[Claimed]]:
    """Publishes a body to the endpoint and claims the delivery."""

    async def published(body: str) -> Claimed:
        sent = await managers.webhooks.publish(owner, "order.created", body)
        assert [each.endpoint_id for each in sent.deliveries] == [endpoint.id]
        kinds = (WorkKind.DELIVER_WEBHOOK,)
        (claimed,) = await managers.work.claim_many(rctx, DELIVERY_LANE, kinds, "tests", timedelta(minutes=1), 10)
        return claimed

    return published


@pytest.fixture
def handle(handler: WorkHandlerInterface) -> Callable[[Claimed], Awaitable[Any]]:
    """Runs the handler under a claim that holds."""

    async def holds(_claim: HeldClaim) -> bool:
        return True

    async def handled(claimed: Claimed) -> Any:  # noqa: ANN401 - a handler's result
        ctx, item = claimed
        enter_claim(HeldClaim(ctx, item, 0.0, holds))
        return await handler.handle(ctx, item)

    return handled
