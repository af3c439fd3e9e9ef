from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.file import SecretsFileImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.base import new_id
from headrace.om.context import AppContext, AppType, RequestContext
from headrace.om.root import Infra, build_managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.tools.dev.deliveries import Delivery, MainJob, delivery_problems
from headrace.tools.dev.receiver import Arrival, Receiver
from headrace.tools.dev.routes import ROUTES, Route
from headrace.tools.dev.samples import Sample

BY_NAME = {route.name: route for route in ROUTES}
SAMPLES = tuple(Sample(event, b"{}") for event in ("order.created", "note.saved", "file.uploaded"))


def arrival(route: Route, position: int) -> Arrival:
    return Arrival(route.name, "k", b"{}", is_verified=True, answer=route.answer(position), came_at=position * 1.5)


def settled(name: str, changes: Mapping[str, object] = MappingProxyType({})) -> Delivery:
    """A delivery that ended as its route says, but for the changes to its item or its first arrival."""
    route = BY_NAME[name]
    fields: dict[str, object] = {
        "kind": WorkKind.DELIVER_WEBHOOK,
        "origin": "tests",
        "status": route.status,
        "attempts": route.num_attempts(3),
        "error_code": route.error_code,
    }
    of_item = {key: value for key, value in changes.items() if key in fields}
    first, *rest = [arrival(route, position) for position in range(route.num_attempts(3))]
    first = replace(first, **{key: value for key, value in changes.items() if key not in fields})  # type: ignore[arg-type] # the test's own
    return Delivery(Sample("a.b", b"{}"), route, "k", WorkItem.model_validate(fields | of_item), (first, *rest))


@pytest.mark.parametrize("name", list(BY_NAME))
def test_a_delivery_that_ended_as_its_route_says_has_no_problem(name: str) -> None:
    assert delivery_problems(settled(name)) == ()


@pytest.mark.parametrize(
    ("name", "changes", "problem"),
    [
        ("ok", {"status": WorkStatus.FAILED}, "is failed, must be done"),
        ("bad", {"status": WorkStatus.QUEUED}, "is queued, must be failed"),
        ("flaky", {"attempts": 1}, "took 1 attempts, must take 2"),
        ("hang", {"attempts": 2}, "took 2 attempts, must take 3"),
        ("gone", {"error_code": "receiver_410"}, "recorded as receiver_410, must be endpoint_gone"),
        ("ok", {"answer": HTTPStatus.UNAUTHORIZED}, "the receiver answered 401, not 200"),
        ("ok", {"is_verified": False}, "a signature is wrong"),
        ("ok", {"body": b"{ }"}, "the body is not byte-equal"),
        ("throttle", {"came_at": 1.0}, "came again before Retry-After was over"),
    ],
)
def test_what_went_wrong_is_named(name: str, changes: dict[str, object], problem: str) -> None:
    assert problem in delivery_problems(settled(name, changes))


def test_a_post_that_came_twice_is_named() -> None:
    good = settled("ok")
    twice = Delivery(good.sample, good.route, good.webhook_id, good.item, good.arrivals * 2)
    assert delivery_problems(twice) == ("the receiver answered 200, 200, not 200",)


def test_a_delivery_that_went_nowhere_is_named() -> None:
    lost = Delivery(SAMPLES[0], BY_NAME["ok"], None)
    assert (lost.is_settled, len(delivery_problems(lost))) == (True, 1)
    waiting = Delivery(SAMPLES[0], BY_NAME["ok"], "k")
    assert (waiting.is_settled, delivery_problems(waiting)) == (False, ("not in the queue",))


@pytest.fixture
async def job(tmp_path: Path) -> AsyncIterator[MainJob]:
    """The main job over memory, with a new org."""
    secrets = SecretsFileImpl(tmp_path / "secrets")
    infra = Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=secrets)
    managers = build_managers(StorageMemoryImpl(), infra)
    rctx = RequestContext(app=AppContext(type=AppType.TEST, version="tests@dev"))
    await infra.start()
    ctx = await managers.tenancy.create_org(rctx, Org(name="local"), User(name="o", login_name="o"))
    yield MainJob(managers, ctx, secrets, Receiver(), "http://127.0.0.1:5")
    await infra.close()


def again(job: MainJob, base_url: str) -> MainJob:
    """The next run, which remembers nothing of the last."""
    return MainJob(job.managers, job.ctx, job.secrets, Receiver(), base_url)


async def endpoints(job: MainJob) -> tuple[WebhookEndpoint, ...]:
    return await job.managers.webhooks.get_endpoints(job.ctx, 100)


async def test_each_sample_is_addressed_to_its_route_alone(job: MainJob) -> None:
    await job.register(SAMPLES)
    deliveries = await job.look(await job.publish(SAMPLES))
    assert [each.route.name for each in deliveries] == ["ok", "throttle", "gone"]
    assert all(each.item is not None and each.item.status is WorkStatus.QUEUED for each in deliveries)
    assert len({each.webhook_id for each in deliveries}) == len(SAMPLES)


async def test_a_second_run_finds_its_endpoints_and_enables_what_was_disabled(job: MainJob) -> None:
    await job.register(SAMPLES)
    before = await endpoints(job)
    await job.managers.webhooks.disable_endpoint(job.ctx, before[0].id, "410")
    await again(job, job.base_url).register(SAMPLES)
    after = await endpoints(job)
    assert {each.id for each in after} == {each.id for each in before}
    assert all(each.enabled for each in after)


async def test_endpoints_of_a_run_at_another_address_are_disabled_and_a_persons_own_are_not(job: MainJob) -> None:
    await job.register(SAMPLES)
    own = WebhookEndpoint(
        name="mine",
        url="http://127.0.0.1:9/",
        secret_reference=f"env:{secret_name(job.ctx.org_id, 'A')}",
        event_types=("x",),
    )
    await job.managers.webhooks.add_endpoint(job.ctx, own)
    await again(job, "http://127.0.0.1:6").register(SAMPLES)
    enabled = {each.url for each in await endpoints(job) if each.enabled}
    assert {"http://127.0.0.1:9/", "http://127.0.0.1:6/ok"} <= enabled
    assert not any(url.startswith("http://127.0.0.1:5") for url in enabled)


async def test_an_endpoint_that_answered_410_and_is_still_enabled_is_a_problem(job: MainJob) -> None:
    await job.register(SAMPLES)
    assert [each.route for each in await job.problems(())] == ["/gone"]


async def test_samples_that_find_their_endpoint_disabled_are_told(job: MainJob) -> None:
    await job.register(SAMPLES)
    for each in await endpoints(job):
        await job.managers.webhooks.disable_endpoint(job.ctx, each.id, "off")
    deliveries = await job.publish(SAMPLES)
    shown: list[int] = []
    assert await job.watch(deliveries, lambda seen: shown.append(len(seen))) == deliveries
    assert shown == [len(SAMPLES)]
    assert len(await job.problems(deliveries)) == len(SAMPLES)


async def test_an_item_that_left_the_page_keeps_what_was_last_seen(job: MainJob) -> None:
    await job.register(SAMPLES)
    [first, *_] = await job.look(await job.publish(SAMPLES))
    gone = Delivery(first.sample, first.route, str(new_id()), first.item)
    [seen] = await job.look([gone])
    assert seen.item == first.item
