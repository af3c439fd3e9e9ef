"""What a payload of HTTP2_PING may hold, field by field."""

import pytest

from acme_works.om.base import FrozenMapping
from acme_works.om.work.exceptions import WorkPayloadRefused
from acme_works.om.work.payload import checked_payload, payload_of
from acme_works.om.work.types.kinds import WorkKind
from acme_works.om.work.types.payloads.http2_ping import Http2PingPayload
from acme_works.om.work.types.work_item import WorkItem

GOOD: dict[str, object] = {
    "id": 7,
    "ratio": 1.5,
    "is_new": True,
    "day": "2026-02-28",
    "at": ["2026-02-28T12:00:00Z"],
    "names": ["hello"],
    "parts": ["0192f0c1-6a00-7000-8000-000000000001"],
}


def item(payload: dict[str, object]) -> WorkItem:
    return WorkItem(kind=WorkKind.HTTP2_PING, origin="test", payload=FrozenMapping(payload))


def test_a_payload_is_read_and_written_back_the_same_when_it_fits() -> None:
    assert payload_of(Http2PingPayload, item(GOOD)).model_dump(mode="json") == GOOD


@pytest.mark.parametrize("field", ["id", "is_new", "day", "at", "parts"])
def test_a_payload_is_refused_when_a_field_is_missing(field: str) -> None:
    payload = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(WorkPayloadRefused, match=rf"payload\.{field}\b"):
        checked_payload(item(payload))


@pytest.mark.parametrize("field", ["ratio", "names"])
def test_a_field_may_be_left_out_when_it_is_optional(field: str) -> None:
    payload = {name: value for name, value in GOOD.items() if name != field}
    assert payload_of(Http2PingPayload, item(payload)) == payload_of(Http2PingPayload, item(GOOD | {field: None}))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        pytest.param("id", "7", id="id: a text"),
        pytest.param("id", 7.5, id="id: a fraction"),
        pytest.param("id", True, id="id: a boolean"),
        pytest.param("id", 2**63, id="id: beyond 64 bits"),
        pytest.param("id", None, id="id: null"),
        pytest.param("ratio", "1.5", id="ratio: a text"),
        pytest.param("ratio", True, id="ratio: a boolean"),
        pytest.param("ratio", float("inf"), id="ratio: not finite"),
        pytest.param("ratio", float("nan"), id="ratio: not a number"),
        pytest.param("is_new", "true", id="is_new: a text"),
        pytest.param("is_new", 1, id="is_new: a number"),
        pytest.param("is_new", None, id="is_new: null"),
        pytest.param("day", "today", id="day: a word"),
        pytest.param("day", "2026-02-30", id="day: no such day"),
        pytest.param("day", None, id="day: null"),
        pytest.param("at", "2026-02-28T12:00:00Z", id="at: no list"),
        pytest.param("at", ["2026-02-28T12:00:00Z"] * 1001, id="at: too long"),
        pytest.param("at", ["now"], id="at: an element, a word"),
        pytest.param("at", ["2026-02-28T12:00:00"], id="at: an element, without a time zone"),
        pytest.param("at", [None], id="at: an element, null"),
        pytest.param("at", None, id="at: null"),
        pytest.param("names", "hello", id="names: no list"),
        pytest.param("names", ["hello"] * 1001, id="names: too long"),
        pytest.param("names", [""], id="names: an element, empty"),
        pytest.param("names", ["x" * 1001], id="names: an element, too long"),
        pytest.param("names", [7], id="names: an element, a number"),
        pytest.param("names", [None], id="names: an element, null"),
        pytest.param("parts", "0192f0c1-6a00-7000-8000-000000000001", id="parts: no list"),
        pytest.param("parts", ["0192f0c1-6a00-7000-8000-000000000001"] * 1001, id="parts: too long"),
        pytest.param("parts", ["first"], id="parts: an element, a word"),
        pytest.param("parts", [7], id="parts: an element, a number"),
        pytest.param("parts", [None], id="parts: an element, null"),
        pytest.param("parts", None, id="parts: null"),
    ],
)
def test_a_payload_is_refused_when_a_field_does_not_fit(field: str, wrong: object) -> None:
    with pytest.raises(WorkPayloadRefused, match=rf"payload\.{field}\b"):
        checked_payload(item(GOOD | {field: wrong}))


def test_a_payload_is_refused_when_it_has_a_field_that_is_not_known() -> None:
    with pytest.raises(WorkPayloadRefused, match=r"payload\.no field\b"):
        checked_payload(item(GOOD | {"no field": 1}))
