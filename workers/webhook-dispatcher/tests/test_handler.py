"""The handler over memory, with a receiver that answers what the test says."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from headrace.infra.exceptions import SecretNotFound
from headrace.om.base import FrozenMapping, new_id
from headrace.om.context import OpContext
from headrace.om.root import Managers
from headrace.om.webhooks.exceptions import WebhookEndpointNotFound
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.rules import RETRY_POLICIES, retry_delay
from headrace.om.work.types.handler import Defer, Refuse, WorkHandlerInterface
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.claims import enter_claim
from headrace.workers.kit.held import HeldClaim
from headrace.workers.webhook_dispatcher.addresses import AddressRefused
from headrace.workers.webhook_dispatcher.container import WorkerContainer
from headrace.workers.webhook_dispatcher.handler import DeliveryFailed
from headrace.workers.webhook_dispatcher.pinning import NameUnanswered
from headrace.workers.webhook_dispatcher.signing import read_key, sign
from om.tests.contracts.webhooks_storage import ODD_BODY

type Claimed = tuple[OpContext, WorkItem]
type Publish = Callable[[str], Awaitable[Claimed]]
type Handle = Callable[[Claimed], Awaitable[Any]]


class Receiver:
    """Answers the next of its answers, the last one again and again, and keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[httpx.Response | Exception] = [httpx.Response(204)]
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        # As from the wire: not read yet.
        return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(answer.content))


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def transport(receiver: Receiver) -> httpx.MockTransport:
    return httpx.MockTransport(receiver)


async def stored(managers: Managers, owner: OpContext, endpoint: WebhookEndpoint) -> WebhookEndpoint:
    return await managers.webhooks.get_endpoint(owner, endpoint.id)


async def test_same_id_and_bytes_are_posted_when_the_same_item_is_handled_twice(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    claimed = await publish(ODD_BODY)
    first, second = await handle(claimed), await handle(claimed)
    assert (first["status"], second["status"]) == (204, 204)
    assert [each.headers["webhook-id"] for each in receiver.requests] == [claimed[1].idempotency_key] * 2
    assert [each.content for each in receiver.requests] == [ODD_BODY.encode()] * 2


async def test_post_is_signed_over_what_was_sent_when_it_is_delivered(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    signing_secret: Any,  # noqa: ANN401 - a SecretStr
) -> None:
    await handle(await publish(ODD_BODY))
    (request,) = receiver.requests
    timestamp = int(request.headers["webhook-timestamp"])
    expected = sign(read_key(signing_secret), request.headers["webhook-id"], timestamp, request.content)
    assert request.headers["webhook-signature"] == expected
    assert abs(datetime.now(UTC).timestamp() - timestamp) < 60
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert str(request.url) == "https://receiver.example/hook"


async def test_result_says_status_and_how_the_answer_begins_when_it_is_delivered(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    receiver.answers = [httpx.Response(200, content=b"ok\x1b[31m\xff\x00" + b"y" * 5000)]
    result = await handle(await publish("{}"))
    assert result["status"] == 200
    assert result["elapsed_ms"] >= 0
    assert result["response"].startswith("ok\ufffd[31m\ufffd\ufffdyyy")
    assert len(result["response"].encode()) <= 1024
    json.dumps(result)


@pytest.mark.parametrize("status", [400, 401, 404, 405, 413, 422, 301, 302, 304, 308])
async def test_item_is_refused_when_the_receiver_will_never_take_it(
    publish: Publish, handle: Handle, receiver: Receiver, status: int
) -> None:
    receiver.answers = [httpx.Response(status, text="not for me", headers={"location": "https://other.example/"})]
    with pytest.raises(Refuse, match=f"the receiver answered {status}: not for me") as end:
        await handle(await publish("{}"))
    assert end.value.code == f"receiver_{status}"
    assert len(receiver.requests) == 1


def by_policy(claimed: Claimed) -> timedelta:
    """How long the kind's own policy has the item wait after this attempt."""
    _, item = claimed
    return retry_delay(RETRY_POLICIES[item.kind], item.attempts, str(item.id))


@pytest.mark.parametrize("status", [500, 502, 504, 599])
async def test_item_is_tried_again_by_policy_when_the_receiver_is_at_fault(
    publish: Publish, handle: Handle, receiver: Receiver, status: int
) -> None:
    receiver.answers = [httpx.Response(status, headers={"retry-after": "9"})]
    claimed = await publish("{}")
    with pytest.raises(DeliveryFailed, match=f"answered {status}") as end:
        await handle(claimed)
    assert end.value.after == by_policy(claimed)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("7", timedelta(seconds=7)),
        ("999999", timedelta(hours=1)),
        ("-1", None),
        ("soon", None),
        (None, None),
        ("0", None),
    ],
)
async def test_receivers_wish_is_honoured_when_it_asks_for_time(
    publish: Publish, handle: Handle, receiver: Receiver, status: int, value: str | None, after: timedelta | None
) -> None:
    receiver.answers = [httpx.Response(status, headers={} if value is None else {"retry-after": value})]
    claimed = await publish("{}")
    with pytest.raises(DeliveryFailed) as end:
        await handle(claimed)
    assert end.value.after == (after or by_policy(claimed))


async def test_endpoint_is_disabled_and_the_item_refused_when_it_is_gone(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    receiver.answers = [httpx.Response(410)]
    claimed = await publish("{}")
    with pytest.raises(Refuse) as end:
        await handle(claimed)
    assert end.value.code == "endpoint_gone"
    assert not (await stored(managers, owner, endpoint)).enabled
    with pytest.raises(Refuse, match="endpoint is disabled: the receiver answered 410") as again:
        await handle(claimed)
    assert again.value.code == "endpoint_disabled"
    assert len(receiver.requests) == 1


async def test_endpoint_is_disabled_when_it_keeps_failing(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    receiver.answers = [httpx.Response(500), httpx.ConnectError("no"), httpx.Response(404)]
    claimed = await publish("{}")
    for _ in range(3):
        with pytest.raises((DeliveryFailed, Refuse)):
            await handle(claimed)
    assert not (await stored(managers, owner, endpoint)).enabled


async def test_count_of_failures_starts_anew_when_a_delivery_succeeds(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    receiver.answers = [httpx.Response(500), httpx.Response(200)]
    claimed = await publish("{}")
    with pytest.raises(DeliveryFailed):
        await handle(claimed)
    assert (await stored(managers, owner, endpoint)).num_consecutive_failures == 1
    await handle(claimed)
    assert (await stored(managers, owner, endpoint)).num_consecutive_failures == 0


async def test_nothing_is_sent_when_the_endpoint_is_disabled(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    claimed = await publish("{}")
    await managers.webhooks.disable_endpoint(owner, endpoint.id, "maintenance")
    with pytest.raises(Refuse, match="maintenance"):
        await handle(claimed)
    assert receiver.requests == []


async def test_nothing_is_sent_when_the_claim_does_not_hold_any_more(
    publish: Publish, handler: WorkHandlerInterface, receiver: Receiver
) -> None:
    async def is_lost(_claim: HeldClaim) -> bool:
        return False

    ctx, item = await publish("{}")
    enter_claim(HeldClaim(ctx, item, 0.0, is_lost))
    with pytest.raises(Defer) as end:
        await handler.handle(ctx, item)
    assert end.value.delay > timedelta(0)
    assert receiver.requests == []


async def test_missing_secret_is_named_when_it_cannot_be_read(
    publish: Publish, handle: Handle, receiver: Receiver, environ: dict[str, str]
) -> None:
    environ.clear()
    with pytest.raises(SecretNotFound, match=r"env:org_\w+_HOOK"):
        await handle(await publish("{}"))
    assert receiver.requests == []


async def test_odd_secret_is_refused_without_showing_it_when_it_cannot_sign(
    publish: Publish, handle: Handle, receiver: Receiver, environ: dict[str, str], secret_variable: str
) -> None:
    environ[secret_variable] = "hunter2"
    with pytest.raises(Refuse, match=r"env:org_\w+_HOOK") as end:
        await handle(await publish("{}"))
    assert end.value.code == "secret_unusable"
    assert "hunter2" not in str(end.value)
    assert receiver.requests == []


async def test_nothing_is_signed_with_another_tenants_secret_when_a_record_names_it(
    container: WorkerContainer,
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    environ: dict[str, str],
    secret_variable: str,
    endpoint: WebhookEndpoint,
) -> None:
    theirs = secret_name(new_id(), "HOOK")
    environ[f"HEADRACE_SECRET_{theirs}"] = environ[secret_variable]
    ctx, item = await publish("{}")
    # Behind the manager's back, as a record from elsewhere would be.
    forged = endpoint.with_changes(secret_reference=f"env:{theirs}", version=2)
    assert await container.parts.storage.get_webhooks_storage().write_endpoint(ctx.org_id, forged, 1, ())
    with pytest.raises(Refuse, match="not its org's own") as end:
        await handle((ctx, item))
    assert end.value.code == "secret_foreign"
    assert receiver.requests == []


async def test_url_is_refused_when_its_host_is_private(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    receiver.answers = [AddressRefused("the host resolves to an address that is not public")]
    with pytest.raises(Refuse, match="not public") as end:
        await handle(await publish("{}"))
    assert end.value.code == "url_refused"
    assert (await stored(managers, owner, endpoint)).num_consecutive_failures == 1


async def test_endpoint_is_not_blamed_when_no_name_server_answers(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    receiver.answers = [NameUnanswered("the host's name was not resolved in time")]
    claimed = await publish("{}")
    with pytest.raises(DeliveryFailed, match="not resolved in time") as end:
        await handle(claimed)
    assert end.value.after == by_policy(claimed)
    assert (await stored(managers, owner, endpoint)).num_consecutive_failures == 0


@pytest.mark.parametrize(
    "payload", [{}, {"message_id": "x", "endpoint_id": str(new_id())}, {"message_id": str(new_id())}]
)
async def test_payload_is_refused_when_it_does_not_fit(
    publish: Publish, handle: Handle, receiver: Receiver, payload: dict[str, str]
) -> None:
    ctx, item = await publish("{}")
    with pytest.raises(WorkPayloadRefused, match=r"payload\.(message|endpoint)_id"):
        await handle((ctx, item.with_changes(payload=FrozenMapping(payload))))
    assert receiver.requests == []


async def test_delivery_is_not_found_when_the_endpoint_is_another_tenants(publish: Publish, handle: Handle) -> None:
    ctx, item = await publish("{}")
    payload = FrozenMapping({"message_id": item.payload["message_id"], "endpoint_id": str(new_id())})
    with pytest.raises(WebhookEndpointNotFound):
        await handle((ctx, item.with_changes(payload=payload)))


@pytest.mark.parametrize("key", [None, "a.b", "line\nbreak", "é"])
async def test_items_id_stands_in_when_its_key_cannot_be_a_header(
    publish: Publish, handle: Handle, receiver: Receiver, key: str | None
) -> None:
    ctx, item = await publish("{}")
    await handle((ctx, item.with_changes(idempotency_key=key)))
    assert receiver.requests[0].headers["webhook-id"] == str(item.id)
