"""Posting one attempt: everything that goes over the wire, within bounds, and what came back."""

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, Self
from uuid import UUID

import httpx

from headrace.workers.webhook_dispatcher.pinning import ORG_EXTENSION

_PLAIN_HEADERS: Final = {
    "content-type": "application/json",
    "user-agent": "headrace-webhooks/1",
    # Answers are read within a bound, which a compressed one would only hide.
    "accept-encoding": "identity",
    "accept": "*/*",
}


@dataclass(frozen=True, slots=True)
class PostLimits:
    """What bounds one attempt; durations and sizes above zero."""

    connect_timeout: timedelta
    """For looking the host up, and again for each connection with its TLS handshake."""
    read_timeout: timedelta
    """Between two pieces of the answer, and for each piece that is sent."""
    total_timeout: timedelta
    """From the look-up to the end of the answer."""
    max_response_bytes: int
    """Of the answer's body; more is not read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver said."""

    status: int
    retry_after: str | None
    elapsed: timedelta
    body: bytes
    """The beginning of the answer's body; what came until it ended, broke off, or reached a bound."""


class PostFailed(Exception):  # noqa: N818 - named like the project's other exceptions, by what is the case
    """The receiver gave no answer: no connection, no end in time, or no HTTP. The same post may succeed later."""


class UrlUnusable(Exception):  # noqa: N818 - likewise
    """No request can be made for the URL."""


class WebhookPoster:
    """Posts to the URLs of tenants: no redirects, no proxies, no cookies, no connection kept for another post.

    Safe to use from many tasks of one event loop. Close it in the end.

    Args:
        limits: What bounds each attempt.
        transport: Makes the connections and decides which addresses are allowed; closed with the poster.
    """

    def __init__(self, limits: PostLimits, transport: httpx.AsyncBaseTransport) -> None:
        self._limits = limits
        self._client = httpx.AsyncClient(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            timeout=_timeout(limits),
            headers=_PLAIN_HEADERS,
            cookies=_no_cookies(),
        )

    async def post(self, org_id: UUID, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Post the body once and return the answer, whatever its status.

        An answer whose status has come counts, even if its body then breaks off or takes too long.

        Args:
            org_id: Whose message it is; an org's look-ups of names are bounded.
            url: Where to.
            headers: Beside those that every post has.
            body: As it is sent.

        Raises:
            UrlUnusable: The URL cannot be requested; nothing was sent.
            AddressRefused: The host resolves to an address that is not allowed; nothing was sent.
            NameUnanswered: The host was not resolved in time; nothing was sent, and the receiver is not to blame.
            PostFailed: No answer; the receiver may have taken the post all the same.
        """
        started = time.monotonic()
        deadline = asyncio.get_running_loop().time() + self._limits.total_timeout.total_seconds()
        try:
            request = self._client.build_request(
                "POST", url, headers=dict(headers), content=body, extensions={ORG_EXTENSION: org_id}
            )
            async with asyncio.timeout_at(deadline):
                response = await self._client.send(request, stream=True)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise UrlUnusable(f"the URL cannot be requested ({error})") from error
        except TimeoutError as error:
            raise PostFailed(f"no answer within {self._limits.total_timeout.total_seconds():g} s") from error
        except httpx.TransportError as error:
            raise PostFailed(_sentence(error)) from error
        try:
            beginning = await _beginning(response, deadline, self._limits.max_response_bytes)
        finally:
            await response.aclose()
        elapsed = timedelta(seconds=time.monotonic() - started)
        return Answer(response.status_code, response.headers.get("retry-after"), elapsed, beginning)

    async def close(self) -> None:
        """Close every connection; safe to call twice."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()


def wire_transport(trust: ssl.SSLContext) -> httpx.AsyncHTTPTransport:
    """Return a transport that makes a connection for each request, over TLS with the given trust where asked."""
    unshared = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=unshared)


def _no_cookies() -> CookieJar:
    """Return a jar that takes none and gives none: what one tenant's receiver sets must not reach another's."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


async def _beginning(response: httpx.Response, deadline: float, max_bytes: int) -> bytes:
    """Read the body to its end or to a bound: a receiver that is cut off early would see an error."""
    read = bytearray()
    try:
        async with asyncio.timeout_at(deadline):
            async for piece in response.aiter_raw():
                read += piece
                if len(read) >= max_bytes:
                    break
    except (TimeoutError, httpx.HTTPError):
        pass
    return bytes(read[:max_bytes])


def _timeout(limits: PostLimits) -> httpx.Timeout:
    connect, read = limits.connect_timeout.total_seconds(), limits.read_timeout.total_seconds()
    return httpx.Timeout(connect=connect, read=read, write=read, pool=connect)


def _sentence(error: httpx.TransportError) -> str:
    kinds: Sequence[tuple[type[httpx.TransportError], str]] = (
        (httpx.ConnectTimeout, "no connection in time"),
        (httpx.ConnectError, "no connection"),
        (httpx.ReadTimeout, "no answer in time"),
        (httpx.WriteTimeout, "the receiver did not take the post in time"),
        (httpx.NetworkError, "the connection broke"),
        (httpx.ProtocolError, "the answer is not HTTP"),
    )
    said = next((text for kind, text in kinds if isinstance(error, kind)), "no answer")
    return f"{said} ({str(error) or type(error).__name__})"
