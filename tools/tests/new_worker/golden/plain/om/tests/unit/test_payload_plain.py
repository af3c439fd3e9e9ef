"""What a payload of PLAIN may hold, field by field."""

import pytest

from headrace.om.base import FrozenMapping
from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.payload import checked_payload, payload_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.plain import PlainPayload
from headrace.om.work.types.work_item import WorkItem

GOOD: dict[str, object] = {"note": "hello"}


def item(payload: dict[str, object]) -> WorkItem:
    return WorkItem(kind=WorkKind.PLAIN, origin="test", payload=FrozenMapping(payload))


def test_a_payload_is_read_and_written_back_the_same_when_it_fits() -> None:
    assert payload_of(PlainPayload, item(GOOD)).model_dump(mode="json") == GOOD


@pytest.mark.parametrize("field", ["note"])
def test_a_field_may_be_left_out_when_it_is_optional(field: str) -> None:
    payload = {name: value for name, value in GOOD.items() if name != field}
    assert payload_of(PlainPayload, item(payload)) == payload_of(PlainPayload, item(GOOD | {field: None}))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
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
