import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from headrace.tools.dev.receiver import Receiver, is_signed
from headrace.workers.webhook_dispatcher.signing import read_key, signed_headers

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BODY = "{\u202e}".encode()


def signed(*, secret: str = SECRET, at: float | None = None, body: bytes = BODY, name: str = "m1") -> dict[str, str]:
    """Headers as the dispatcher makes them: the receiver's own check must agree with them."""
    return signed_headers(read_key(SecretStr(secret)), name, int(time.time() if at is None else at), body)


@pytest.fixture
def receiver() -> Receiver:
    made = Receiver()
    for route in ("ok", "flaky", "throttle", "bad", "gone", "hang"):
        made.trust(route, SECRET)
    return made


@pytest.fixture
async def client(receiver: Receiver) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(receiver.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as opened:
        yield opened


async def statuses(client: httpx.AsyncClient, path: str, num_posts: int) -> list[int]:
    return [(await client.post(path, content=BODY, headers=signed())).status_code for _ in range(num_posts)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/ok", [200, 200]),
        ("/flaky", [503, 200, 200]),
        ("/throttle", [429, 200]),
        ("/bad", [400, 400]),
        ("/gone", [410, 410]),
        ("/other", [404]),
    ],
)
async def test_each_path_answers_as_its_route_says(client: httpx.AsyncClient, path: str, expected: list[int]) -> None:
    assert await statuses(client, path, len(expected)) == expected


async def test_nothing_is_raised_or_counted_when_a_sender_stops_within_its_body(receiver: Receiver) -> None:
    coming: list[MutableMapping[str, Any]] = [
        {"type": "http.request", "body": BODY[:1], "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return coming.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/ok", "query_string": b"", "headers": []}
    await receiver.app(scope, receive, send)
    assert (sent[0]["status"], receiver.num_posts) == (400, 0)


async def test_a_429_says_when_to_come_again(client: httpx.AsyncClient) -> None:
    answer = await client.post("/throttle", content=BODY, headers=signed())
    assert answer.headers["retry-after"] == "1"


async def test_messages_are_told_apart_by_their_ids(client: httpx.AsyncClient, receiver: Receiver) -> None:
    assert await statuses(client, "/flaky", 2) == [503, 200]
    other = await client.post("/flaky", content=BODY, headers=signed(name="m2"))
    assert other.status_code == 503
    assert [each.answer for each in receiver.arrivals("m1")] == [503, 200]
    assert receiver.arrivals("m1")[0].body == BODY


async def test_a_hanging_post_ends_when_the_receiver_closes(client: httpx.AsyncClient, receiver: Receiver) -> None:
    post = asyncio.ensure_future(client.post("/hang", content=BODY, headers=signed()))
    async with asyncio.timeout(10):
        while not receiver.num_posts:  # noqa: ASYNC110 - the receiver tells nobody
            await asyncio.sleep(0)
    assert not post.done()
    receiver.close()
    assert (await post).status_code == 503
    assert receiver.arrivals("m1")[0].answer is None


async def test_a_post_without_a_right_signature_is_refused_and_counted(
    client: httpx.AsyncClient, receiver: Receiver
) -> None:
    wrong = "whsec_" + base64.b64encode(b"x" * 32).decode()
    answer = await client.post("/ok", content=BODY, headers=signed(secret=wrong))
    assert (answer.status_code, receiver.num_posts, receiver.num_verified) == (401, 1, 0)


def test_a_signature_of_this_body_by_this_secret_is_right() -> None:
    assert is_signed(signed(), BODY, SECRET, now=time.time())


def test_one_right_signature_among_several_is_enough() -> None:
    headers = signed()
    several = {**headers, "webhook-signature": f"v1,AAAA v2,BBBB {headers['webhook-signature']}"}
    assert is_signed(several, BODY, SECRET, now=time.time())


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "m2"},
        {"webhook-id": ""},
        {"webhook-timestamp": "0"},
        {"webhook-timestamp": "-1"},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "\u0661"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,\u20ac"},
    ],
)
def test_a_changed_header_makes_the_signature_wrong(change: dict[str, str]) -> None:
    assert not is_signed({**signed(), **change}, BODY, SECRET, now=time.time())


def test_another_version_of_signature_does_not_count() -> None:
    headers = signed()
    other = {**headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v0,")}
    assert not is_signed(other, BODY, SECRET, now=time.time())


def test_a_changed_body_makes_the_signature_wrong() -> None:
    assert not is_signed(signed(), BODY + b" ", SECRET, now=time.time())


@pytest.mark.parametrize("seconds", [-301, 301])
def test_a_signature_from_another_time_is_wrong(seconds: int) -> None:
    now = int(time.time())
    assert not is_signed(signed(at=now), BODY, SECRET, now=now + seconds)
    assert is_signed(signed(at=now), BODY, SECRET, now=now + seconds * 299 / 301)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_***"])
def test_a_secret_that_holds_no_key_signs_nothing(secret: str) -> None:
    stamp = str(int(time.time()))
    empty = base64.b64encode(hmac.digest(b"", f"m1.{stamp}.".encode() + BODY, hashlib.sha256)).decode()
    headers = {"webhook-id": "m1", "webhook-timestamp": stamp, "webhook-signature": f"v1,{empty}"}
    assert not is_signed(headers, BODY, secret, now=time.time())
