"""How webhook endpoints and messages look."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from headrace.workers.console.cli.screen import Block, Fields, Line, Rows

if TYPE_CHECKING:
    from headrace.om.webhooks.types.endpoint import WebhookEndpoint
    from headrace.om.webhooks.types.message import PublishedMessage
    from headrace.workers.console.actions.webhooks import AddedEndpoint

COLUMNS: Final = ("ID", "NAME", "STATE", "FAILURES", "URL", "EVENTS")


def endpoint_document(endpoint: "WebhookEndpoint") -> dict[str, Any]:
    """Return an endpoint as a document; it names the secret and never holds it."""
    return endpoint.model_dump(mode="json")


def endpoints_document(endpoints: "Sequence[WebhookEndpoint]", next_id: UUID | None) -> dict[str, Any]:
    """Return a page of endpoints as a document."""
    return {
        "endpoints": [endpoint_document(each) for each in endpoints],
        "next": None if next_id is None else str(next_id),
    }


def endpoints_rows(endpoints: "Sequence[WebhookEndpoint]") -> Rows:
    """Return a page of endpoints as a table."""
    return Rows(COLUMNS, [_row(each) for each in endpoints], empty="no endpoint yet; `headrace webhooks endpoint add`")


def added_document(added: "AddedEndpoint") -> dict[str, Any]:
    """Return an added endpoint as a document, with its signing secret where it was generated."""
    secret = None if added.signing_secret is None else added.signing_secret.get_secret_value()
    return {"endpoint": endpoint_document(added.endpoint), "signing_secret": secret}


def added_fields(added: "AddedEndpoint") -> Fields:
    """Return an added endpoint for people."""
    endpoint = added.endpoint
    pairs = [("endpoint", str(endpoint.id)), ("name", endpoint.name), ("url", endpoint.url)]
    pairs += [("events", _events(endpoint)), ("secret reference", endpoint.secret_reference)]
    if added.signing_secret is not None:
        pairs.append(("signing secret", f"{added.signing_secret.get_secret_value()} (shown this once)"))
    return Fields(pairs)


def published_document(published: "PublishedMessage") -> dict[str, Any]:
    """Return what became of a publish as a document, without the body."""
    return published.model_dump(mode="json", exclude={"message": {"body"}})


def published_blocks(published: "PublishedMessage") -> Sequence[Block]:
    """Return what became of a publish for people."""
    message = published.message
    if not published.is_new:
        return (Line(f"message {message.id} had been published before; nothing is sent twice"),)
    said = Line(f"message {message.id} ({message.event_type}, {message.body_bytes} bytes)")
    rows = [(str(each.endpoint_id), each.idempotency_key) for each in published.deliveries]
    nobody = "no enabled endpoint wants this event; nothing is sent"
    return said, Rows(("ENDPOINT", "WEBHOOK-ID"), rows, empty=nobody)


def _row(endpoint: "WebhookEndpoint") -> tuple[str, ...]:
    state = "enabled" if endpoint.enabled else f"disabled: {endpoint.disabled_reason}"
    failures = str(endpoint.num_consecutive_failures)
    return (str(endpoint.id), endpoint.name, state, failures, endpoint.url, _events(endpoint))


def _events(endpoint: "WebhookEndpoint") -> str:
    return ", ".join(endpoint.event_types) or "all"
