"""A receiver of webhooks as a customer would write one: a real HTTP server that verifies every signature itself.

It knows nothing of the dispatcher's code, so that the two check each other.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from headrace.tools.dev.routes import RETRY_AFTER, ROUTES, Route

TOLERANCE: Final = timedelta(minutes=5)
"""How far a signature's time may be from now; recommended by the scheme against replays."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One post that came.

    Attributes:
        route: The path without its slash.
        webhook_id: What the sender calls the message; empty where it said nothing.
        body: The bytes that came.
        is_verified: Whether the signature is this endpoint's, of these bytes, and fresh.
        answer: What it got; None for no answer.
        came_at: Monotonic seconds.
    """

    route: str
    webhook_id: str
    body: bytes
    is_verified: bool
    answer: HTTPStatus | None
    came_at: float


class Receiver:
    """Answers each path as its route says, and remembers what came. Belongs to one event loop."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}
        self._arrivals: list[Arrival] = []
        self._closed = asyncio.Event()
        self.app = FastAPI(title="local receiver", docs_url=None, redoc_url=None, openapi_url=None)
        self.app.add_exception_handler(ClientDisconnect, _nobody_is_left)
        for route in ROUTES:
            self._serve(route)

    def trust(self, route: str, secret: str) -> None:
        """Verify what comes to the route with this secret, `whsec_<base64>`."""
        self._secrets[route] = secret

    def arrivals(self, webhook_id: str) -> tuple[Arrival, ...]:
        """Returns the posts of one message in the order they came."""
        return tuple(each for each in self._arrivals if each.webhook_id == webhook_id)

    @property
    def num_posts(self) -> int:
        """How many posts came."""
        return len(self._arrivals)

    @property
    def num_verified(self) -> int:
        """How many of them had a right signature."""
        return sum(each.is_verified for each in self._arrivals)

    def close(self) -> None:
        """Let go of the posts that are never answered."""
        self._closed.set()

    def _serve(self, route: Route) -> None:
        async def take(request: Request) -> Response:
            return await self._taken(route, request)

        self.app.add_api_route(f"/{route.name}", take, methods=["POST"], response_model=None)

    async def _taken(self, route: Route, request: Request) -> Response:
        body, headers = await request.body(), request.headers
        webhook_id = headers.get("webhook-id", "")
        is_verified = is_signed(headers, body, self._secrets.get(route.name, ""), now=time.time())
        answer = route.answer(len(self.arrivals(webhook_id))) if is_verified else HTTPStatus.UNAUTHORIZED
        self._arrivals.append(Arrival(route.name, webhook_id, body, is_verified, answer, time.monotonic()))
        if answer is None:
            await self._closed.wait()
            return Response(status_code=HTTPStatus.SERVICE_UNAVAILABLE)
        wait = {"retry-after": f"{RETRY_AFTER.total_seconds():.0f}"} if answer is HTTPStatus.TOO_MANY_REQUESTS else {}
        return Response(f"{answer.phrase}\n", status_code=answer, headers=wait, media_type="text/plain")


async def _nobody_is_left(_request: Request, _error: Exception) -> Response:
    """Answer into the void: a sender that stops within its body has posted nothing, and nothing is wrong here."""
    return Response(status_code=HTTPStatus.BAD_REQUEST)


def is_signed(headers: Mapping[str, str], body: bytes, secret: str, *, now: float) -> bool:
    """Returns whether a post carries a signature by the secret, of this body, made within the tolerance.

    Args:
        headers: The post's, by names in lower case.
        body: Exactly the bytes that came.
        secret: `whsec_<base64>`; one that cannot be read signs nothing.
        now: Seconds since the epoch.

    Source: Standard Webhooks 1.0.0, "Verifying webhook authenticity".
    """
    webhook_id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not webhook_id or not (stamp.isascii() and stamp.isdigit()):
        return False
    if abs(now - int(stamp)) > TOLERANCE.total_seconds():
        return False
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        return False
    expected = base64.b64encode(hmac.digest(key, f"{webhook_id}.{stamp}.".encode() + body, hashlib.sha256))
    given = [part.partition(",") for part in headers.get("webhook-signature", "").split(" ")]
    # All are compared, so that the time it takes tells nothing of which one fits.
    fits = [version == "v1" and hmac.compare_digest(text.encode(), expected) for version, _, text in given]
    return bool(key) and any(fits)
