"""A transport that connects to the very address that was checked, and to no other.

Looking a name up, checking the answer and then letting the client look it up again would let whoever owns the
name answer differently the second time (DNS rebinding). Here one look-up serves both.
"""

import asyncio
import socket
from collections.abc import Sequence
from typing import Final, override

import httpx

from headrace.workers.kit.threads import run_detached
from headrace.workers.webhook_dispatcher.addresses import Address, Network, check_addresses, parse_address
from headrace.workers.webhook_dispatcher.name_lookups import NameLookups, Resolve

MAX_ADDRESSES_TRIED: Final = 3

ORG_EXTENSION: Final = "headrace_org_id"
"""The request's extension that says for which org it is made."""


class NameUnanswered(Exception):  # noqa: N818 - named like the project's other exceptions, by what is the case
    """No name server answered for the host in time; nothing was sent, and of the receiver this says nothing."""


async def resolve_by_system(host: str, port: int) -> Sequence[Address]:
    """Return a host's addresses as the operating system finds them, each once; also for hosts that are addresses.

    Each look-up has a thread of its own: tenants choose the name servers that are asked, and the event loop's few
    threads would all wait for one that is slow. `NameLookups` bounds how many there are.

    Raises:
        OSError: The name has none, or the resolver did not answer.
    """
    found = await run_detached(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(parse_address(str(sockaddr[0])) for *_, sockaddr in found))


class PinnedTransport(httpx.AsyncBaseTransport):
    """Resolves each request's host once, checks every address, and hands the request on for one of them.

    The Host header and the name that TLS verifies stay the URL's. Connections must not be kept for reuse by the
    inner transport: it knows them by address, and two names on one address must not share one.

    Args:
        inner: Makes the connections.
        resolve: Looks hosts up.
        allow_private: Whether every address is allowed.
        allowed: Networks that are allowed although they are not public.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        *,
        resolve: Resolve = resolve_by_system,
        allow_private: bool = False,
        allowed: Sequence[Network] = (),
    ) -> None:
        self._inner = inner
        self._lookups = NameLookups(resolve)
        self._allow_private = allow_private
        self._allowed = tuple(allowed)

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to the first of the host's addresses that takes a connection.

        Raises:
            AddressRefused: An address of the host is not allowed; nothing was connected to.
            NameUnanswered: The name was not looked up in time; nothing was connected to.
            httpx.ConnectError: The host has no address, or none takes a connection.
        """
        host = request.url.raw_host.decode("ascii")
        *spare, last = (await self._checked_addresses(host, request))[:MAX_ADDRESSES_TRIED]
        for address in spare:
            try:
                return await self._inner.handle_async_request(_pinned(request, host, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                # Nothing was sent, so that another address of the same host may be tried.
                continue
        return await self._inner.handle_async_request(_pinned(request, host, last))

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _checked_addresses(self, host: str, request: httpx.Request) -> Sequence[Address]:
        limit: float | None = request.extensions.get("timeout", {}).get("connect")
        org_id = request.extensions.get(ORG_EXTENSION)
        try:
            async with asyncio.timeout(limit):
                addresses = await self._lookups.find(org_id, host, request.url.port or _default_port(request.url))
        except (OSError, UnicodeError) as error:
            if _is_silence(error):
                raise NameUnanswered("the host's name was not resolved in time") from error
            raise httpx.ConnectError("the host's name cannot be resolved", request=request) from error
        check_addresses(addresses, allow_private=self._allow_private, allowed=self._allowed)
        return addresses


def _pinned(request: httpx.Request, host: str, address: Address) -> httpx.Request:
    return httpx.Request(
        request.method,
        request.url.copy_with(host=str(address)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


def _is_silence(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or (isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN)


def _default_port(url: httpx.URL) -> int:
    return 443 if url.scheme == "https" else 80
