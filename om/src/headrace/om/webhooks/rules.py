"""Pure rules of webhooks: what an endpoint and a message may be, and when failing is too much."""

import json
import re
from collections.abc import Sequence
from typing import Final, NoReturn
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from headrace.infra.secrets import REFERENCE
from headrace.om.encoding import refuse_unreadable_name, refuse_unstorable_text
from headrace.om.exceptions import ValidationFailed
from headrace.om.webhooks.types.delivery import FailureCount, FailurePolicy
from headrace.om.webhooks.types.endpoint import MAX_URL_LENGTH, WebhookEndpoint
from headrace.om.webhooks.types.message import MAX_BODY_BYTES, MAX_EVENT_TYPE_LENGTH

MAX_ENDPOINTS: Final = 500
"""How many endpoints a tenant may have, so that one message is a bounded write."""

_EVENT_TYPE: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*")
_URL_CHARACTERS: Final = re.compile(r"[!-~]+")
"""What a URL is written in: visible ASCII. Names in other scripts are given in their ASCII form."""


def check_event_type(field: str, event_type: str) -> None:
    """Return when the text is an event type: lowercase words of letters, digits and underscores, joined by dots.

    Raises:
        ValidationFailed: It is not.

    Source: Standard Webhooks 1.0.0, "Event types" (recommended characters; lowercase is this product's).
    """
    if len(event_type) > MAX_EVENT_TYPE_LENGTH or not _EVENT_TYPE.fullmatch(event_type):
        raise ValidationFailed(
            field, f"an event type such as order.created (lowercase, at most {MAX_EVENT_TYPE_LENGTH} characters)"
        )


def check_body(body: str) -> None:
    """Return when the text is one JSON value of at most `MAX_BODY_BYTES` in UTF-8.

    Raises:
        ValidationFailed: It is not JSON, cannot be encoded, or is too large.
    """
    refuse_unstorable_text("body", body)
    if (size := len(body.encode())) > MAX_BODY_BYTES:
        raise ValidationFailed("body", f"at most {MAX_BODY_BYTES} bytes of JSON, got {size}")
    try:
        json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValidationFailed("body", f"a JSON value ({error})") from error


def check_endpoint(org_id: UUID, endpoint: WebhookEndpoint) -> None:
    """Return when the endpoint's fields can work for the tenant.

    Raises:
        ValidationFailed: One cannot; the sentence names it and repeats neither the URL nor the reference.
    """
    refuse_unreadable_name("name", endpoint.name)
    check_url(endpoint.url)
    check_secret_reference(org_id, endpoint.secret_reference)
    _check_filter(endpoint.event_types)


def check_url(url: str) -> None:
    """Return when the URL is http or https with a host, not at port 0, without credentials and fragment.

    Where it leads is not looked at here: addresses are checked when a message is posted, since names change.

    Raises:
        ValidationFailed: It is not.
    """
    if len(url) > MAX_URL_LENGTH or not _URL_CHARACTERS.fullmatch(url):
        raise ValidationFailed("url", f"at most {MAX_URL_LENGTH} visible ASCII characters")
    parts = _split(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValidationFailed("url", "https://HOST/PATH or http://HOST/PATH")
    if parts.port == 0:
        raise ValidationFailed("url", "a port from 1 to 65535")
    if "@" in parts.netloc:
        raise ValidationFailed("url", "a URL without credentials (the signature says who calls)")
    if "#" in url or "\\" in url:
        raise ValidationFailed("url", "a URL without a fragment or backslashes")


def secret_name(org_id: UUID, name: str) -> str:
    """Return the name, in a store, of a secret of the tenant's own: `org_<the org's id, 32 digits>_<name>`.

    Args:
        org_id: The tenant.
        name: 1-63 letters, digits, dots, dashes and underscores.
    """
    return f"org_{org_id.hex}_{name}"


def is_own_reference(org_id: UUID, reference: str) -> bool:
    """Return whether the text names a secret of the tenant's own in a store, as `env:NAME` or `file:NAME`.

    The name says whose the secret is, since every tenant's secrets lie in one store and a record can name any.
    """
    match = REFERENCE.fullmatch(reference)
    own = secret_name(org_id, "")
    return match is not None and match["name"].startswith(own) and match["name"] != own


def check_secret_reference(org_id: UUID, reference: str) -> None:
    """Return when the text names a secret of the tenant's own in a store, as `env:NAME` or `file:NAME`.

    Raises:
        ValidationFailed: It does not, or it looks like the secret itself; the sentence does not repeat it.
    """
    if not is_own_reference(org_id, reference) or "whsec_" in reference:
        own = secret_name(org_id, "NAME")
        raise ValidationFailed(
            "secret_reference", f"a secret of this org's own, env:{own} or file:{own}, never the secret itself"
        )


def is_failing_too_long(policy: FailurePolicy, count: FailureCount) -> bool:
    """Return whether both of the policy's bounds are reached: so many failures, over so long a time.

    One alone is not enough: a burst of messages fails often within a minute, and a quiet endpoint's two
    failures may lie a week apart.
    """
    often = count.endpoint.num_consecutive_failures >= policy.max_consecutive_failures
    return often and count.failing_for >= policy.max_failing_for


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # urlsplit reads the port only when asked
    except ValueError as error:
        raise ValidationFailed("url", "a URL whose host and port can be read") from error
    return parts


def _check_filter(event_types: Sequence[str]) -> None:
    for index, event_type in enumerate(event_types):
        check_event_type(f"event_types[{index}]", event_type)
    if len(set(event_types)) != len(event_types):
        raise ValidationFailed("event_types", "each event type once")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
