"""What a payload of NOTIFY_SHIPMENT may hold, field by field."""

import pytest

from headrace.om.base import FrozenMapping
from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.payload import checked_payload, payload_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.notify_shipment import NotifyShipmentPayload
from headrace.om.work.types.work_item import WorkItem

GOOD: dict[str, object] = {
    "order_id": "0192f0c1-6a00-7000-8000-000000000001",
    "carrier": "hello",
    "weight": "12.50",
    "note": "hello",
}


def item(payload: dict[str, object]) -> WorkItem:
    return WorkItem(kind=WorkKind.NOTIFY_SHIPMENT, origin="test", payload=FrozenMapping(payload))


def test_a_payload_is_read_and_written_back_the_same_when_it_fits() -> None:
    assert payload_of(NotifyShipmentPayload, item(GOOD)).model_dump(mode="json") == GOOD


@pytest.mark.parametrize("field", ["order_id", "carrier", "weight"])
def test_a_payload_is_refused_when_a_field_is_missing(field: str) -> None:
    payload = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(WorkPayloadRefused, match=rf"payload\.{field}\b"):
        checked_payload(item(payload))


@pytest.mark.parametrize("field", ["note"])
def test_a_field_may_be_left_out_when_it_is_optional(field: str) -> None:
    payload = {name: value for name, value in GOOD.items() if name != field}
    assert payload_of(NotifyShipmentPayload, item(payload)) == payload_of(
        NotifyShipmentPayload, item(GOOD | {field: None})
    )


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        pytest.param("order_id", "first", id="order_id: a word"),
        pytest.param("order_id", 7, id="order_id: a number"),
        pytest.param("order_id", None, id="order_id: null"),
        pytest.param("carrier", "", id="carrier: empty"),
        pytest.param("carrier", "x" * 1001, id="carrier: too long"),
        pytest.param("carrier", 7, id="carrier: a number"),
        pytest.param("carrier", None, id="carrier: null"),
        pytest.param("weight", "much", id="weight: a word"),
        pytest.param("weight", "Infinity", id="weight: not finite"),
        pytest.param("weight", "NaN", id="weight: not a number"),
        pytest.param("weight", "1" * 39, id="weight: too many digits"),
        pytest.param("weight", None, id="weight: null"),
        pytest.param("note", "", id="note: empty"),
        pytest.param("note", "x" * 1001, id="note: too long"),
        pytest.param("note", 7, id="note: a number"),
    ],
)
def test_a_payload_is_refused_when_a_field_does_not_fit(field: str, wrong: object) -> None:
    with pytest.raises(WorkPayloadRefused, match=rf"payload\.{field}\b"):
        checked_payload(item(GOOD | {field: wrong}))


def test_a_payload_is_refused_when_it_has_a_field_that_is_not_known() -> None:
    with pytest.raises(WorkPayloadRefused, match=r"payload\.no field\b"):
        checked_payload(item(GOOD | {"no field": 1}))
