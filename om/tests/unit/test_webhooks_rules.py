"""What an endpoint and a message may be, and when failing is too much."""

from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.exceptions import ValidationFailed
from headrace.om.webhooks.rules import (
    check_body,
    check_endpoint,
    check_event_type,
    check_secret_reference,
    check_url,
    is_failing_too_long,
    is_own_reference,
    secret_name,
)
from headrace.om.webhooks.types.delivery import FailureCount, FailurePolicy
from om.tests.contracts.webhooks_storage import ODD_BODY, endpoint_with

ORG = UUID("0199a000-0000-7000-8000-00000000000a")
OTHER_ORG = UUID("0199a000-0000-7000-8000-00000000000b")
OWN = secret_name(ORG, "")
SECRET = f"env:{OWN}HOOK"
DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize("event_type", ["ping", "order.created", "a.b.c.d", "order_line.line_2.added", "a" * 100])
def test_event_type_passes_when_it_is_dotted_lowercase(event_type: str) -> None:
    check_event_type("event_type", event_type)


@pytest.mark.parametrize(
    "event_type",
    ["", ".", "order.", ".created", "a..b", "Order.created", "order-created", "order created", "a\n", "é.b", "a" * 101],
)
def test_event_type_is_refused_when_it_is_something_else(event_type: str) -> None:
    with pytest.raises(ValidationFailed, match=r"event_type: expected an event type such as order\.created"):
        check_event_type("event_type", event_type)


@pytest.mark.parametrize("body", ["{}", "null", "[]", '"text"', "1e999", ODD_BODY, '"' + "x" * (1024 * 1024 - 2) + '"'])
def test_body_passes_when_it_is_json(body: str) -> None:
    check_body(body)


@pytest.mark.parametrize(
    "body",
    ["", "{", "{'a':1}", "NaN", '{"a":Infinity}', "-Infinity", "{} {}", "\ufeff{}", DEEP, "1" * 5000],
    ids=["empty", "open", "quotes", "nan", "infinity", "negative", "two", "mark", "deep", "digits"],
)
def test_body_is_refused_when_it_is_no_json(body: str) -> None:
    with pytest.raises(ValidationFailed, match="body: expected a JSON value"):
        check_body(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [('"\x00"', "without NUL"), ('"\ud83d"', "lone surrogates"), ('"' + "é" * 524_288 + '"', "at most 1048576 bytes")],
    ids=["nul", "surrogate", "large"],
)
def test_body_is_refused_when_it_cannot_be_kept(body: str, expected: str) -> None:
    with pytest.raises(ValidationFailed, match=expected):
        check_body(body)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://example.com:8080/hook?a=b",
        "https://[2001:db8::1]/x",
        "http://127.0.0.1:9/",
        "https://xn--bcher-kva.example/",
        "HTTPS://EXAMPLE.COM/",
    ],
)
def test_url_passes_when_it_is_http_with_a_host(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user:word@example.com/",
        "https://token@example.com/",
        "https://@example.com/",
        "https://example.com/#part",
        "https://example.com:99999/",
        "https://example.com:0/",
        "https://[2001:db8::1]:00/",
        "https://example.com:port/",
        "https://[::1/",
        "https://exa mple.com/",
        "https://bücher.example/",
        "https://example.com/\r\nx-injected: 1",
        "https://example.com\\@evil.example/",
        "https://example.com/" + "x" * 2048,
    ],
)
def test_url_is_refused_when_it_cannot_work_or_carries_credentials(url: str) -> None:
    with pytest.raises(ValidationFailed, match=r"^url: expected") as refusal:
        check_url(url)
    assert "word" not in str(refusal.value)


@pytest.mark.parametrize("reference", [f"env:{OWN}HOOK", f"file:{OWN}acme.orders-1", f"env:{OWN}_"])
def test_secret_reference_passes_when_it_names_a_secret_of_the_tenants_own(reference: str) -> None:
    check_secret_reference(ORG, reference)
    assert is_own_reference(ORG, reference)


@pytest.mark.parametrize(
    "reference",
    [
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        f"file:{OWN}whsec_MfKQ",
        f"file:{OWN}../up",
        f"ENV:{OWN}HOOK",
        "plain",
        f"file:{OWN}a\n",
        "env:HOOK",
        f"env:{secret_name(OTHER_ORG, 'HOOK')}",
        f"env:x{OWN}HOOK",
        f"env:{OWN.upper()}HOOK",
        f"env:org_{ORG}_HOOK",
    ],
)
def test_secret_reference_is_refused_without_repeating_it_when_it_is_none_of_the_tenants(reference: str) -> None:
    with pytest.raises(ValidationFailed, match="never the secret itself") as refusal:
        check_secret_reference(ORG, reference)
    assert reference not in str(refusal.value)
    assert OWN in str(refusal.value)


def test_secret_reference_is_refused_when_nothing_follows_the_org() -> None:
    with pytest.raises(ValidationFailed, match="secret_reference"):
        check_secret_reference(ORG, f"env:{OWN}")


def test_endpoint_is_refused_when_its_filter_has_an_odd_type() -> None:
    with pytest.raises(ValidationFailed, match=r"event_types\[1\]"):
        check_endpoint(ORG, endpoint_with(secret_reference=SECRET, event_types=("order.created", "Order")))


def test_endpoint_is_refused_when_its_filter_names_a_type_twice() -> None:
    with pytest.raises(ValidationFailed, match="each event type once"):
        check_endpoint(ORG, endpoint_with(secret_reference=SECRET, event_types=("a.b", "a.b")))


@pytest.mark.parametrize(
    ("num_failures", "hours", "is_too_long"), [(5, 24, True), (4, 240, False), (500, 23, False), (500, 240, True)]
)
def test_failing_is_too_long_only_when_both_bounds_are_reached(
    num_failures: int, hours: int, *, is_too_long: bool
) -> None:
    policy = FailurePolicy(max_consecutive_failures=5, max_failing_for=timedelta(hours=24))
    endpoint = endpoint_with(num_consecutive_failures=num_failures)
    assert (
        is_failing_too_long(policy, FailureCount(endpoint=endpoint, failing_for=timedelta(hours=hours))) is is_too_long
    )
