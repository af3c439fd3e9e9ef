"""Deliveries to a real HTTP server on this machine, which behaves as receivers do and as they should not."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from email.utils import format_datetime
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from headrace.om.base import new_id, utcnow
from headrace.om.context import OpContext
from headrace.om.root import Managers
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.handler import Refuse
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.webhook_dispatcher.addresses import Address
from headrace.workers.webhook_dispatcher.handler import DeliveryFailed
from headrace.workers.webhook_dispatcher.pinning import PinnedTransport
from headrace.workers.webhook_dispatcher.posting import PostFailed, PostLimits, WebhookPoster, wire_transport
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings
from headrace.workers.webhook_dispatcher.signing import read_key, sign
from om.tests.contracts.webhooks_storage import ODD_BODY
from tests.fixtures.http_receiver import (
    Receiver,
    answering,
    drips_its_body,
    drips_its_head,
    hangs,
    hangs_up,
    listening,
    never_ends,
    saying,
)

type Claimed = tuple[OpContext, WorkItem]
type Publish = Callable[[str], Awaitable[Claimed]]
type Handle = Callable[[Claimed], Awaitable[Any]]

CERTIFICATES = Path(__file__).parent / "certificates"
PATIENCE = 20
BUFFERS_BYTES = 32 * 1024 * 1024
"""More than what lies in the buffers between two sockets of this machine."""

LARGE_BODY = '{"text":"' + "wörter und 👩\u200d🚀 " * 30_000 + '"}'


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with listening() as started:
        yield started


@pytest.fixture
def url(receiver: Receiver) -> str:
    return f"http://127.0.0.1:{receiver.port}/hook"


@pytest.fixture
def hurried(settings: WebhookDispatcherSettings) -> WebhookDispatcherSettings:
    """The settings with timeouts that a receiver without manners meets soon."""
    short = timedelta(milliseconds=300)
    return settings.model_copy(update={"post_read_timeout": short, "post_total_timeout": short * 2})


@pytest.fixture
def unheard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies in the environment that lead nowhere."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")


@pytest.mark.parametrize("body", ["{}", ODD_BODY, LARGE_BODY], ids=["small", "odd", "large"])
async def test_receiver_can_verify_what_it_got_when_a_message_is_delivered(
    publish: Publish, handle: Handle, receiver: Receiver, signing_secret: SecretStr, body: str
) -> None:
    claimed = await publish(body)
    result = await handle(claimed)
    (exchange,) = receiver.exchanges
    timestamp = int(exchange.header("webhook-timestamp"))
    expected = sign(read_key(signing_secret), exchange.header("webhook-id"), timestamp, exchange.body)
    assert exchange.body == body.encode()
    assert exchange.header("webhook-signature") == expected
    assert exchange.header("webhook-id") == claimed[1].idempotency_key
    assert exchange.head.startswith("POST /hook HTTP/1.1\r\n")
    assert result["status"] == 204


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_message_is_delivered_when_the_status_is_2xx(
    publish: Publish, handle: Handle, receiver: Receiver, status: int
) -> None:
    receiver.behaviour = answering(status, body=b"" if status == 204 else b"thanks")
    assert (await handle(await publish("{}")))["status"] == status


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "receiver_400"), (404, "receiver_404"), (410, "endpoint_gone"), (422, "receiver_422")],
)
async def test_item_is_refused_when_the_status_is_4xx(
    publish: Publish, handle: Handle, receiver: Receiver, status: int, code: str
) -> None:
    receiver.behaviour = answering(status, body=b"no")
    with pytest.raises(Refuse, match=f"answered {status}: no") as end:
        await handle(await publish("{}"))
    assert end.value.code == code


async def test_endpoint_is_disabled_when_the_status_is_410(
    publish: Publish,
    handle: Handle,
    receiver: Receiver,
    managers: Managers,
    owner: OpContext,
    endpoint: WebhookEndpoint,
) -> None:
    receiver.behaviour = answering(410)
    with pytest.raises(Refuse):
        await handle(await publish("{}"))
    assert not (await managers.webhooks.get_endpoint(owner, endpoint.id)).enabled


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_refused_and_not_followed_when_the_receiver_sends_one(
    publish: Publish, handle: Handle, receiver: Receiver, url: str, status: int
) -> None:
    receiver.behaviour = answering(status, f"location: {url}/elsewhere")
    with pytest.raises(Refuse, match=str(status)):
        await handle(await publish("{}"))
    assert receiver.num_connections == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_item_is_tried_again_when_the_status_is_5xx(
    publish: Publish, handle: Handle, receiver: Receiver, status: int
) -> None:
    receiver.behaviour = answering(status, body=b"later")
    with pytest.raises(DeliveryFailed, match=f"answered {status}: later") as end:
        await handle(await publish("{}"))
    assert end.value.after is not None
    assert end.value.after > timedelta(0)


@pytest.mark.parametrize("status", [429, 503])
async def test_seconds_are_honoured_when_the_receiver_asks_for_time(
    publish: Publish, handle: Handle, receiver: Receiver, status: int
) -> None:
    receiver.behaviour = answering(status, "Retry-After: 17")
    with pytest.raises(DeliveryFailed) as end:
        await handle(await publish("{}"))
    assert end.value.after == timedelta(seconds=17)


async def test_date_is_honoured_when_the_receiver_names_one(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    at = format_datetime(utcnow() + timedelta(minutes=5), usegmt=True)
    receiver.behaviour = answering(429, f"Retry-After: {at}")
    with pytest.raises(DeliveryFailed) as end:
        await handle(await publish("{}"))
    assert end.value.after is not None
    assert timedelta(minutes=3) < end.value.after <= timedelta(minutes=5)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"hello\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-len", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", "not HTTP"),
    ],
    ids=["garbage", "half", "endless-header"],
)
async def test_item_is_tried_again_when_the_answer_is_no_http(
    publish: Publish, handle: Handle, receiver: Receiver, raw: bytes, said: str
) -> None:
    receiver.behaviour = saying(raw)
    with pytest.raises(DeliveryFailed, match=said):
        await handle(await publish("{}"))


async def test_item_is_tried_again_when_the_receiver_hangs_up(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    receiver.behaviour = hangs_up
    with pytest.raises(DeliveryFailed):
        await handle(await publish("{}"))


async def test_answer_counts_when_its_body_breaks_off(publish: Publish, handle: Handle, receiver: Receiver) -> None:
    receiver.behaviour = saying(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart")
    result = await handle(await publish("{}"))
    assert (result["status"], result["response"]) == (200, "part")


async def test_reading_ends_at_the_bound_when_the_answer_never_ends(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    receiver.behaviour = never_ends
    result = await handle(await publish("{}"))
    assert result["response"].startswith("zzz")
    assert len(result["response"]) <= 1024
    async with asyncio.timeout(PATIENCE):
        await receiver.is_cut_off.wait()
    assert receiver.exchanges[0].num_sent_bytes < BUFFERS_BYTES


async def test_connection_is_not_kept_when_several_messages_go_to_one_receiver(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    receiver.behaviour = answering(200, "connection: keep-alive")
    for _ in range(3):
        await handle(await publish("{}"))
    assert receiver.num_connections == 3


@pytest.mark.usefixtures("unheard")
async def test_proxies_of_the_environment_are_not_asked_when_a_message_is_delivered(
    publish: Publish, handle: Handle, receiver: Receiver
) -> None:
    await handle(await publish("{}"))
    assert len(receiver.exchanges) == 1


class TestHurried:
    """What takes too long, under short timeouts."""

    @pytest.fixture
    def settings(self, hurried: WebhookDispatcherSettings) -> WebhookDispatcherSettings:
        return hurried

    async def test_item_is_tried_again_when_the_receiver_hangs(
        self, publish: Publish, handle: Handle, receiver: Receiver
    ) -> None:
        receiver.behaviour = hangs
        with pytest.raises(DeliveryFailed, match="no answer in time"):
            await handle(await publish("{}"))

    async def test_item_is_tried_again_when_the_head_of_the_answer_drips(
        self, publish: Publish, handle: Handle, receiver: Receiver
    ) -> None:
        receiver.behaviour = drips_its_head
        with pytest.raises(DeliveryFailed, match=r"no answer within 0\.6 s"):
            await handle(await publish("{}"))

    async def test_message_is_delivered_when_only_the_body_of_the_answer_drips(
        self, publish: Publish, handle: Handle, receiver: Receiver
    ) -> None:
        receiver.behaviour = drips_its_body
        result = await handle(await publish("{}"))
        assert result["response"].startswith("xx")
        async with asyncio.timeout(PATIENCE):
            await receiver.is_cut_off.wait()


class TestPrivate:
    """The same receiver under the settings of production, where loopback is no place to post to."""

    @pytest.fixture
    def settings(self, settings: WebhookDispatcherSettings) -> WebhookDispatcherSettings:
        return settings.model_copy(update={"allow_private_addresses": False})

    async def test_nothing_is_connected_to_when_the_address_is_private(
        self, publish: Publish, handle: Handle, receiver: Receiver
    ) -> None:
        with pytest.raises(Refuse, match="not public") as end:
            await handle(await publish("{}"))
        assert end.value.code == "url_refused"
        assert receiver.num_connections == 0


class TestAllowedNetwork:
    """And with this machine's own network allowed by name."""

    @pytest.fixture
    def settings(self, settings: WebhookDispatcherSettings) -> WebhookDispatcherSettings:
        allowed = (ip_network("127.0.0.0/8"),)
        return settings.model_copy(update={"allow_private_addresses": False, "allowed_networks": allowed})

    async def test_message_is_delivered_when_the_address_is_in_an_allowed_network(
        self, publish: Publish, handle: Handle, receiver: Receiver
    ) -> None:
        assert (await handle(await publish("{}")))["status"] == 204
        assert receiver.num_connections == 1


ORG_ID = new_id()
LIMITS = PostLimits(
    connect_timeout=timedelta(seconds=5),
    read_timeout=timedelta(seconds=5),
    total_timeout=timedelta(seconds=10),
    max_response_bytes=1000,
)


def poster_to_loopback(*addresses: str) -> WebhookPoster:
    """A poster to which every name is these addresses, trusting the test's certificate alone."""

    async def resolve(_host: str, _port: int) -> list[Address]:
        return [ip_address(each) for each in addresses]

    trust = ssl.create_default_context(cafile=str(CERTIFICATES / "certificate.pem"))
    loopback = [ip_network("127.0.0.0/8")]
    return WebhookPoster(LIMITS, PinnedTransport(wire_transport(trust), resolve=resolve, allowed=loopback))


async def test_cookie_is_not_sent_when_a_receiver_has_set_one(receiver: Receiver) -> None:
    receiver.behaviour = answering(204, "set-cookie: a=1; path=/", "set-cookie: b=2; domain=receiver.example")
    async with poster_to_loopback("127.0.0.1") as poster:
        for name in ("receiver.example", "receiver.example", "hooks.receiver.example"):
            await poster.post(ORG_ID, f"http://{name}:{receiver.port}/hook", {}, b"{}")
    assert len(receiver.exchanges) == 3
    assert [each.head for each in receiver.exchanges if "cookie" in each.head.lower()] == []


@pytest.fixture
async def tls_receiver() -> AsyncIterator[Receiver]:
    identity = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    identity.load_cert_chain(CERTIFICATES / "certificate.pem", CERTIFICATES / "key.pem")
    async with listening(identity) as started:
        yield started


async def test_certificate_is_checked_against_the_name_when_the_address_is_pinned(tls_receiver: Receiver) -> None:
    async with poster_to_loopback("127.0.0.1") as poster:
        answer = await poster.post(ORG_ID, f"https://receiver.example:{tls_receiver.port}/hook", {}, b"{}")
    assert answer.status == 204
    assert tls_receiver.exchanges[0].header("host") == f"receiver.example:{tls_receiver.port}"


async def test_nothing_is_sent_when_the_certificate_is_for_another_name(tls_receiver: Receiver) -> None:
    async with poster_to_loopback("127.0.0.1") as poster:
        with pytest.raises(PostFailed, match=r"no connection .*other\.example"):
            await poster.post(ORG_ID, f"https://other.example:{tls_receiver.port}/hook", {}, b"{}")
    assert tls_receiver.exchanges == []


async def test_next_address_is_used_when_the_first_takes_no_connection(receiver: Receiver) -> None:
    async with poster_to_loopback("127.0.0.2", "127.0.0.1") as poster:
        assert (await poster.post(ORG_ID, f"http://receiver.example:{receiver.port}/hook", {}, b"{}")).status == 204


async def test_no_connection_is_made_when_it_is_refused(receiver: Receiver) -> None:
    async with poster_to_loopback("127.0.0.2") as poster:
        with pytest.raises(PostFailed, match="no connection"):
            await poster.post(ORG_ID, f"http://receiver.example:{receiver.port}/hook", {}, b"{}")
