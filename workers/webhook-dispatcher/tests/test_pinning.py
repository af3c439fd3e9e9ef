"""Which address a request goes to: the one that was checked, under the URL's own name."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import ip_address, ip_network

import httpx
import pytest

from headrace.workers.webhook_dispatcher.addresses import Address, AddressRefused
from headrace.workers.webhook_dispatcher.name_lookups import Resolve
from headrace.workers.webhook_dispatcher.pinning import NameUnanswered, PinnedTransport, resolve_by_system

PUBLIC = ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c")


class Wire:
    """Keeps what it is asked to send; refuses the connection to some addresses."""

    def __init__(self, refusing: Sequence[str] = ()) -> None:
        self.requests: list[httpx.Request] = []
        self._refusing = refusing

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self._refusing:
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(204)


def resolving(*answers: Sequence[str]) -> Resolve:
    """A resolver with one answer for each time that it is asked."""
    left = list(answers)

    async def resolve(_host: str, _port: int) -> Sequence[Address]:
        return [ip_address(each) for each in left.pop(0)]

    return resolve


async def posted(
    url: str, resolve: Resolve, wire: Callable[[httpx.Request], httpx.Response], *, allowed: Sequence[str] = ()
) -> httpx.Response:
    networks = [ip_network(each) for each in allowed]
    pinned = PinnedTransport(httpx.MockTransport(wire), resolve=resolve, allowed=networks)
    async with httpx.AsyncClient(transport=pinned, trust_env=False) as client:
        return await client.post(url, content=b"{}")


async def test_name_stays_and_address_is_the_checked_one_when_a_request_is_sent() -> None:
    wire = Wire()
    await posted("https://receiver.example:8443/hook?a=b", resolving(PUBLIC[:1]), wire)
    (request,) = wire.requests
    assert str(request.url) == "https://93.184.215.14:8443/hook?a=b"
    assert request.headers["host"] == "receiver.example:8443"
    assert request.extensions["sni_hostname"] == "receiver.example"


async def test_address_is_bracketed_when_it_is_ipv6() -> None:
    wire = Wire()
    await posted("https://receiver.example/", resolving(PUBLIC[1:]), wire)
    assert str(wire.requests[0].url) == f"https://[{PUBLIC[1]}]/"


async def test_name_is_looked_up_once_when_its_owner_would_answer_differently_the_second_time() -> None:
    wire = Wire()
    await posted("http://rebinding.example/", resolving(PUBLIC[:1], ["127.0.0.1"]), wire)
    assert [each.url.host for each in wire.requests] == [PUBLIC[0]]


@pytest.mark.parametrize("private", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"])
async def test_nothing_is_sent_when_one_of_the_addresses_is_private(private: str) -> None:
    wire = Wire()
    with pytest.raises(AddressRefused):
        await posted("http://mixed.example/", resolving([PUBLIC[0], private]), wire)
    assert wire.requests == []


async def test_private_address_is_used_when_its_network_is_allowed() -> None:
    wire = Wire()
    await posted("http://inner.example/", resolving(["10.1.2.3"]), wire, allowed=["10.1.0.0/16"])
    assert wire.requests[0].url.host == "10.1.2.3"


async def test_next_address_is_tried_when_one_takes_no_connection() -> None:
    wire = Wire(refusing=[PUBLIC[0]])
    assert (await posted("http://receiver.example/", resolving(PUBLIC), wire)).status_code == 204
    assert [each.url.host for each in wire.requests] == list(PUBLIC)


async def test_three_addresses_are_tried_when_none_takes_a_connection() -> None:
    addresses = [f"93.184.215.{number}" for number in range(1, 9)]
    wire = Wire(refusing=addresses)
    with pytest.raises(httpx.ConnectError):
        await posted("http://receiver.example/", resolving(addresses), wire)
    assert [each.url.host for each in wire.requests] == addresses[:3]


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
async def test_no_connection_is_made_when_the_name_cannot_be_resolved(error: Exception) -> None:
    async def resolve(_host: str, _port: int) -> Sequence[Address]:
        raise error

    with pytest.raises(httpx.ConnectError, match="cannot be resolved"):
        await posted("http://nowhere.example/", resolve, Wire())


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_AGAIN, "try again"), TimeoutError("timed out")])
async def test_receiver_is_not_blamed_when_no_name_server_answers(error: OSError) -> None:
    async def resolve(_host: str, _port: int) -> Sequence[Address]:
        raise error

    with pytest.raises(NameUnanswered):
        await posted("http://silent.example/", resolve, Wire())


async def test_look_up_is_bounded_by_the_connect_timeout_when_the_resolver_hangs() -> None:
    async def resolve(_host: str, _port: int) -> Sequence[Address]:
        await asyncio.Event().wait()
        return ()

    pinned = PinnedTransport(httpx.MockTransport(Wire()), resolve=resolve)
    async with httpx.AsyncClient(transport=pinned, timeout=httpx.Timeout(5, connect=0.01), trust_env=False) as client:
        with pytest.raises(NameUnanswered, match="not resolved in time"):
            await client.post("http://slow.example/")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "017700000001"])
async def test_odd_spellings_of_loopback_are_seen_through_when_they_are_resolved(host: str) -> None:
    assert await resolve_by_system(host, 80) == (ip_address("127.0.0.1"),)


async def test_a_look_up_is_answered_when_many_others_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def getaddrinfo(host: str, port: int, **_wanted: object) -> list[tuple[object, ...]]:
        if host == "slow.example":
            go_on.wait(10)
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (PUBLIC[0], port))]

    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **wanted: getaddrinfo(*args[:2], **wanted))
    slow = [asyncio.create_task(resolve_by_system("slow.example", 80)) for _ in range(40)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(5):
            assert await resolve_by_system("quick.example", 80) == (ip_address(PUBLIC[0]),)
    finally:
        go_on.set()
        await asyncio.wait(slow)


async def test_ipv6_literal_is_itself_when_it_is_resolved() -> None:
    assert await resolve_by_system("::1", 80) == (ip_address("::1"),)
