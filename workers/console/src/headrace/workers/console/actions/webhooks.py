"""Webhook endpoints and messages."""

import base64
import secrets
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import SecretStr

from headrace.om.base import new_id
from headrace.om.webhooks.rules import check_endpoint, check_url, secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import PublishedMessage
from headrace.workers.console.actions.session import Session
from headrace.workers.console.exceptions import SecretsStoreMissing

SIGNING_KEY_BYTES: Final = 32
MAX_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class EndpointWish:
    """The endpoint to add, as the command line has it.

    Attributes:
        secret_reference: The signing secret's; None generates a secret into the local store.
        name: For people; None takes the URL's host.
    """

    url: str
    event_types: tuple[str, ...] = ()
    secret_reference: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class AddedEndpoint:
    """An endpoint that was added, with its signing secret where this call generated it."""

    endpoint: WebhookEndpoint
    signing_secret: SecretStr | None


def new_signing_secret() -> SecretStr:
    """Return a new signing secret, `whsec_` and 256 random bits as base64.

    Source: Standard Webhooks 1.0.0, "Signature scheme".
    """
    return SecretStr(f"whsec_{base64.b64encode(secrets.token_bytes(SIGNING_KEY_BYTES)).decode()}")


async def add_endpoint(session: Session, wish: EndpointWish) -> AddedEndpoint:
    """Add an endpoint, and generate its signing secret into the local store where none is referred to.

    Raises:
        ValidationFailed: A field cannot work; nothing was written.
        SecretsStoreMissing: A secret is to be generated and the settings name no folder for it; nothing was written.
    """
    check_url(wish.url)
    endpoint_id = new_id()
    own_name = secret_name(session.ctx.org_id, f"webhook-{endpoint_id.hex}")
    endpoint = WebhookEndpoint(
        id=endpoint_id,
        name=_host(wish.url) if wish.name is None else wish.name,
        url=wish.url,
        secret_reference=wish.secret_reference or f"file:{own_name}",
        event_types=wish.event_types,
    )
    # Before a secret is kept: one that no endpoint names would stay for ever.
    check_endpoint(session.ctx.org_id, endpoint)
    generated = None
    if wish.secret_reference is None:
        generated = new_signing_secret()
        endpoint = endpoint.with_changes(secret_reference=await _kept(session, own_name, generated))
    return AddedEndpoint(await session.managers.webhooks.add_endpoint(session.ctx, endpoint), generated)


async def get_endpoints(
    session: Session, limit: int, after: UUID | None
) -> tuple[tuple[WebhookEndpoint, ...], UUID | None]:
    """Return a page of endpoints, oldest first, and after which id the next begins; None where this is the last."""
    endpoints = await session.managers.webhooks.get_endpoints(session.ctx, limit, after)
    return endpoints, endpoints[-1].id if len(endpoints) == limit else None


async def enable_endpoint(session: Session, endpoint_id: UUID) -> WebhookEndpoint:
    """Let an endpoint have messages again."""
    return await session.managers.webhooks.enable_endpoint(session.ctx, endpoint_id)


async def publish(session: Session, event_type: str, body: str, message_id: UUID | None) -> PublishedMessage:
    """Publish a message to every endpoint that wants it."""
    return await session.managers.webhooks.publish(session.ctx, event_type, body, message_id=message_id)


def _host(url: str) -> str:
    return (urlsplit(url).hostname or url)[:MAX_NAME_LENGTH]


async def _kept(session: Session, name: str, secret: SecretStr) -> str:
    store = session.container.local_secrets
    if store is None:
        raise SecretsStoreMissing(
            "a signing secret cannot be generated: HEADRACE_SECRETS_DIR names no folder to keep it in;"
            " give --secret-reference instead"
        )
    return await store.put(name, secret)
