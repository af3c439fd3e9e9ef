"""What goes in is refused by name; what comes back from handlers is cleaned, whatever it is."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from typing import Any, override
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.om.base import FrozenMapping
from headrace.om.encoding import (
    CUT_MARK,
    EARLIEST,
    LATEST,
    encode_json,
    refuse_unreadable_name,
    refuse_unstorable_instant,
    refuse_unstorable_text,
    storable_instant,
    storable_json,
    storable_text,
)
from headrace.om.exceptions import ValidationFailed

ANY_TEXT = st.text(st.characters(codec=None))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner) | st.frozensets(st.integers()),
)


class _Unspeakable:
    @override
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class _Misbehaving(dict[str, Any]):
    @override
    def items(self) -> Any:
        raise RuntimeError("no items")


def is_storable(text: str) -> bool:
    """PostgreSQL holds any UTF-8 text without NUL; jsonb refuses the escaped NUL too."""
    text.encode()
    return "\x00" not in text


@pytest.mark.parametrize("text", ["nul \x00", "\x00", "half \ud800", "\udfff other half"])
def test_text_is_refused_by_name_when_it_cannot_be_stored(text: str) -> None:
    with pytest.raises(ValidationFailed, match=r"^origin: expected text without"):
        refuse_unstorable_text("origin", text)


@pytest.mark.parametrize("text", ["", "zürich", "👩\u200d🚀", "\u202e\ufeff\ufffd", "\x01\x7f\n"])
def test_text_is_taken_when_it_can_be_stored(text: str) -> None:
    refuse_unstorable_text("origin", text)


def test_json_is_compact_and_keeps_text_as_it_is() -> None:
    assert encode_json("payload", {"a": [1, None, "zürich"]}, limit_bytes=100) == '{"a":[1,null,"zürich"]}'


def test_frozen_mappings_are_encoded_inside_too() -> None:
    value = {"a": FrozenMapping({"b": [1, {"c": 2}]})}
    assert json.loads(encode_json("payload", value, limit_bytes=100)) == {"a": {"b": [1, {"c": 2}]}}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"a": "\x00"}, "payload.a"),
        ({"a": [{"b": "x\x00"}]}, "payload.a[0].b"),
        ({"\x00": 1}, "payload"),
        ("\x00", "payload"),
        ({"a": "\ud800"}, "payload"),
        ({"a": float("nan")}, "payload"),
        ({"a": float("inf")}, "payload"),
        ({"a": uuid4()}, "payload"),
        ({"a": b"bytes"}, "payload"),
        ({("a",): 1}, "payload"),
    ],
)
def test_json_is_refused_by_name_when_it_cannot_be_stored(value: object, field: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        encode_json("payload", value, limit_bytes=1000)
    assert raised.value.field == field


def test_an_escaped_nul_in_words_is_no_nul() -> None:
    assert json.loads(encode_json("payload", {"a": "\\u0000"}, limit_bytes=100)) == {"a": "\\u0000"}


def test_a_value_that_contains_itself_is_refused() -> None:
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises(ValidationFailed, match="payload"):
        encode_json("payload", ring, limit_bytes=100)


def test_the_limit_counts_bytes_and_is_inclusive() -> None:
    assert encode_json("payload", "üü", limit_bytes=6) == '"üü"'
    with pytest.raises(ValidationFailed, match="at most 5 bytes of JSON, got 6"):
        encode_json("payload", "üü", limit_bytes=5)


@given(ANY_JSON)
def test_whatever_is_encoded_can_be_stored(value: object) -> None:
    try:
        text = encode_json("payload", value, limit_bytes=10_000)
    except ValidationFailed:
        return
    assert is_storable(text)
    assert not _has_nul(json.loads(text))


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_has_nul(each) for pair in value.items() for each in pair)
    return isinstance(value, list) and any(_has_nul(each) for each in value)


@given(ANY_TEXT, st.integers(min_value=len(CUT_MARK), max_value=200))
def test_cleaned_text_can_be_stored_and_is_within_its_limit(text: str, limit: int) -> None:
    cleaned = storable_text(text, limit_bytes=limit)
    assert is_storable(cleaned)
    assert len(cleaned.encode()) <= limit


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=50))
def test_good_text_stays_as_it_is(text: str) -> None:
    assert storable_text(text, limit_bytes=200) == text


def test_bad_characters_are_replaced_and_long_text_is_marked_as_cut() -> None:
    assert storable_text("a\x00b\ud800c", limit_bytes=100) == "a\ufffdb\ufffdc"
    assert storable_text("ü" * 100, limit_bytes=21) == "ü" * 5 + CUT_MARK


def test_an_object_without_text_is_named_by_its_class() -> None:
    assert storable_text(_Unspeakable(), limit_bytes=100) == "<_Unspeakable that has no text>"


@given(ANY_JSON)
def test_any_value_becomes_json_that_can_be_stored(value: object) -> None:
    text = storable_json(value, limit_bytes=10_000)
    assert is_storable(text)
    assert len(text.encode()) <= 10_000
    assert not _has_nul(json.loads(text))


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "zürich", [1, [2]], {"a": {"b": None}}])
def test_good_json_stays_as_it_is(value: object) -> None:
    assert json.loads(storable_json(value, limit_bytes=1000)) == value


@pytest.mark.parametrize(
    "value", [_Unspeakable(), _Misbehaving(a=1), uuid4(), ValueError("x"), object(), {1, 2}, 10**400]
)
def test_odd_values_become_their_text_and_never_raise(value: object) -> None:
    assert is_storable(storable_json({"a": value, "b": [value]}, limit_bytes=10_000))


def test_deep_and_endless_values_end_somewhere() -> None:
    ring: dict[str, object] = {}
    ring["again"] = ring
    assert storable_json(ring, limit_bytes=10_000) == '{"again":"..."}'


def test_a_value_that_is_too_large_says_so_instead() -> None:
    said = json.loads(storable_json("x" * 1000, limit_bytes=100))
    assert said == {"truncated": True, "size_bytes": 1002, "limit_bytes": 100}


@pytest.mark.parametrize("exponent", [18, 299, 300, 5000])
def test_large_numbers_can_be_stored(exponent: int) -> None:
    assert json.loads(storable_json(-(10**exponent), limit_bytes=10_000)) is not None


def _within_itself() -> list[Any]:
    twice: list[Any] = []
    twice.extend((twice, twice))
    return twice


def _shared(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]
    return value


class _Endless(Mapping[str, int]):
    @override
    def __getitem__(self, key: str) -> int:
        return 1

    @override
    def __iter__(self) -> Iterator[str]:
        return (str(number) for number in count())

    @override
    def __len__(self) -> int:
        return 1


class _Leaving:
    @override
    def __str__(self) -> str:
        raise SystemExit(1)


@pytest.mark.parametrize("value", [_Endless(), _shared(60), [0] * 10_000], ids=["endless", "shared", "long"])
def test_a_value_with_too_many_parts_is_told_of_instead_of_walked_through(value: object) -> None:
    assert json.loads(storable_json(value, limit_bytes=1000))["truncated"] is True


def test_a_value_within_itself_becomes_a_mark() -> None:
    assert json.loads(storable_json(_within_itself(), limit_bytes=1000)) == ["...", "..."]


def test_a_value_that_wants_to_end_the_process_becomes_its_type() -> None:
    assert "_Leaving" in json.loads(storable_json(_Leaving(), limit_bytes=1000))
    assert "_Leaving" in storable_text(_Leaving(), limit_bytes=1000)


EASTWARDS = timezone(timedelta(hours=14))
WESTWARDS = timezone(timedelta(hours=-12))


@pytest.mark.parametrize(
    "value",
    [
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=EASTWARDS),
        datetime.max.replace(tzinfo=WESTWARDS),
        datetime(1969, 12, 31, tzinfo=UTC),
        datetime(2026, 1, 1),  # noqa: DTZ001 - what is refused
    ],
)
def test_an_instant_that_the_database_cannot_give_back_is_refused_by_its_field(value: datetime) -> None:
    with pytest.raises(ValidationFailed, match="available_at: expected an instant"):
        refuse_unstorable_instant("available_at", value)


@pytest.mark.parametrize("value", [EARLIEST, LATEST, datetime(2026, 1, 1, tzinfo=WESTWARDS)])
def test_an_ordinary_instant_passes_as_it_is(value: datetime) -> None:
    refuse_unstorable_instant("available_at", value)
    assert storable_instant(value) == value


def test_an_instant_beyond_the_range_becomes_its_end() -> None:
    assert storable_instant(datetime.min.replace(tzinfo=EASTWARDS)) == EARLIEST
    assert storable_instant(datetime.max.replace(tzinfo=WESTWARDS)) == LATEST


@pytest.mark.parametrize("name", ["two\nlines", " lead", "end ", " ", "bell\x07", "next\x85line", "para\u2029graph"])
def test_a_name_that_people_could_not_type_again_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed, match=r"^name: expected one line without control characters"):
        refuse_unreadable_name("name", name)


@pytest.mark.parametrize(
    "name", ["nightly", "Grüße", "\u05e9\u05dc\u05d5\u05dd", "\U0001f469\u200d\U0001f680", "a\u00a0b"]
)
def test_a_name_of_any_script_is_taken(name: str) -> None:
    refuse_unreadable_name("name", name)
