"""Frozen models: nothing changes in place, copies are validated, ids sort by time."""

from copy import copy
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from headrace.om.base import (
    EMPTY_UUID,
    PROVENANCE_FIELDS,
    FrozenMapping,
    Identifiable,
    Named,
    Platform,
    SoftDeletable,
    Trackable,
    new_id,
    utcnow,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


class Thing(Identifiable, Named, Trackable, SoftDeletable):
    """A record with everything."""

    size: int = Field(default=1, ge=1)
    data: FrozenMapping = Field(default_factory=FrozenMapping)


class Holder(BaseModel):
    data: FrozenMapping


def test_ids_are_version_7_and_sort_by_time() -> None:
    ids = [new_id() for _ in range(1000)]
    assert {each.version for each in ids} == {7}
    assert len(set(ids)) == 1000
    assert ids == sorted(ids)
    assert all(type(each) is UUID for each in ids)


def test_the_present_instant_is_aware_and_in_utc() -> None:
    assert utcnow().utcoffset() == timedelta(0)


def test_the_platform_is_the_empty_uuid() -> None:
    assert str(EMPTY_UUID) == "00000000-0000-0000-0000-000000000000"
    thing = Thing(name="a")
    assert (thing.created_by, thing.updated_by) == (EMPTY_UUID, EMPTY_UUID)
    assert set(Thing.model_fields) >= PROVENANCE_FIELDS


def test_a_model_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Thing(name="a").size = 2  # type: ignore[misc]  # what must not work


@pytest.mark.parametrize(
    "fields", [{"name": "a", "other": 1}, {"name": ""}, {"name": "x" * 101}, {"name": "a", "size": 0}]
)
def test_a_model_refuses_unknown_fields_and_values_that_do_not_fit(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Thing.model_validate(fields)


def test_instants_without_a_time_zone_are_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Thing(name="a", deleted_at=datetime(2026, 11, 30))  # noqa: DTZ001 - the naive instant is the case


def test_a_copy_has_the_changes_and_the_original_stays() -> None:
    thing = Thing(name="a", data=FrozenMapping({"k": [1]}))
    copy = thing.with_changes(size=2)
    assert (copy.size, copy.id, copy.data, thing.size) == (2, thing.id, thing.data, 1)


def test_a_copy_is_refused_when_a_change_does_not_fit() -> None:
    with pytest.raises(ValidationError):
        Thing(name="a").with_changes(size=0)
    with pytest.raises(ValidationError):
        Thing(name="a").with_changes(colour="red")


@given(OBJECTS)
def test_a_frozen_mapping_equals_what_it_was_made_of(data: dict[str, Any]) -> None:
    frozen = FrozenMapping(data)
    assert frozen == data
    assert frozen.thawed() == data
    assert FrozenMapping(frozen.thawed()) == frozen
    assert (len(frozen), set(frozen)) == (len(data), set(data))


def test_a_frozen_mapping_does_not_follow_changes_of_what_it_was_made_of() -> None:
    data: dict[str, Any] = {"a": [1], "b": {"c": 1}}
    frozen = FrozenMapping(data)
    data["a"].append(2)
    data["b"]["c"] = 2
    assert frozen.thawed() == {"a": [1], "b": {"c": 1}}


def test_nothing_inside_a_frozen_mapping_can_be_changed() -> None:
    frozen = FrozenMapping({"a": [1, {"b": [2]}]})
    assert frozen["a"] == (1, {"b": [2]})
    assert isinstance(frozen["a"][1], FrozenMapping)
    assert not hasattr(frozen, "__setitem__")
    frozen.thawed()["a"].append(3)
    assert len(frozen["a"]) == 2


def test_equal_frozen_mappings_have_equal_hashes() -> None:
    assert hash(FrozenMapping({"a": [1], "b": {"c": 2}})) == hash(FrozenMapping({"b": {"c": 2}, "a": (1,)}))
    assert FrozenMapping() != 7


@given(OBJECTS)
def test_a_model_reads_and_writes_a_frozen_mapping_as_json(data: dict[str, Any]) -> None:
    holder = Holder(data=FrozenMapping(data))
    assert holder.model_dump() == {"data": data}
    assert Holder.model_validate_json(holder.model_dump_json()) == holder
    assert Holder.model_validate({"data": data}) == holder


@pytest.mark.parametrize("value", [7, "text", [1], None, {1: "a"}])
def test_a_model_refuses_what_is_no_json_object(value: object) -> None:
    with pytest.raises(ValidationError, match="JSON object"):
        Holder.model_validate({"data": value})


def test_a_platform_model_is_equal_by_its_content() -> None:
    class Point(Platform):
        """Two numbers."""

        x: int

    assert Point(x=1) == Point(x=1)
    assert len({Point(x=1), Point(x=1)}) == 1


def test_a_model_of_trusted_values_is_like_any_other() -> None:
    made = Named(name="a")
    trusted = Named.trusted({"name": "a"})
    assert trusted == made
    assert hash(trusted) == hash(made)
    assert trusted.model_dump_json() == made.model_dump_json()
    assert trusted.with_changes(name="b") == trusted.model_copy(update={"name": "b"}) == Named(name="b")
    with pytest.raises(ValidationError):
        trusted.name = "b"  # type: ignore[misc]  # what is refused


def test_a_mapping_is_encoded_once_and_again_where_that_failed() -> None:
    asked = list[dict[str, Any]]()

    def encode(content: dict[str, Any]) -> str:
        asked.append(content)
        if len(asked) == 1:
            raise ValueError("not yet")
        return str(len(content))

    mapping = FrozenMapping({"a": [1], "b": None})
    with pytest.raises(ValueError, match="not yet"):
        mapping.encoded(encode)
    assert [mapping.encoded(encode) for _ in range(2)] == ["2", "2"]
    assert asked == [{"a": [1], "b": None}] * 2
    assert copy(mapping) == mapping == FrozenMapping({"a": [1], "b": None})
