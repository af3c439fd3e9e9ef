"""What a work item and a bundle say by themselves, and that a claim's text holds no kind."""

from typing import Any

import pytest
from pydantic import ValidationError

from headrace.om.work.storage.impl.claim_statements import SIZES, claim_statement
from headrace.om.work.storage.impl.gated_statements import gated_statement
from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus

GOOD = {"kind": WorkKind.NOOP, "origin": "tests"}


def test_an_item_is_due_at_once_and_tried_three_times_when_nothing_is_said() -> None:
    item = WorkItem.model_validate(GOOD)
    assert (item.status, item.attempts, item.max_attempts, item.priority) == (WorkStatus.QUEUED, 0, 3, 0)
    assert (item.available_at, item.lane, dict(item.payload)) == (None, "default", {})


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": ""},
        {"origin": ""},
        {"origin": "x" * 101},
        {"lane": "x" * 101},
        {"priority": 32768},
        {"max_attempts": 0},
        {"payload": None},
        {"payload": "{}"},
    ],
)
def test_a_field_out_of_its_bounds_is_refused_and_named(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        WorkItem.model_validate(GOOD | fields)
    assert [each["loc"][0] for each in refused.value.errors()] == list(fields)


@pytest.mark.parametrize("missing", ["kind", "origin"])
def test_an_item_must_say_what_it_is_and_who_asked(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        WorkItem.model_validate({name: value for name, value in GOOD.items() if name != missing})


def test_the_text_of_an_item_and_of_a_bundle_names_them() -> None:
    item, bundle = WorkItem.model_validate(GOOD), WorkBundle(kind="imports", origin="tests")
    assert str(item.id) in repr(item)
    assert all(each in repr(bundle) for each in (str(bundle.id), "imports"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("num_kinds", [1, 2, 5])
def test_no_kind_is_part_of_a_claims_text(size: int, num_kinds: int) -> None:
    for stmt in (claim_statement(size, num_kinds), gated_statement(size, num_kinds)):
        assert not [kind for kind in WorkKind if kind.value in stmt.sql]
        assert "$2::text[]" in stmt.sql
