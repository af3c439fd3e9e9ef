"""Text and JSON that PostgreSQL can hold: refused on the way in, cleaned on the way back.

What a caller hands in is refused with a sentence that names the field. What a handler hands back (errors,
results, notes) is cleaned instead, because the statement that records an outcome must never fail.
"""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final
from unicodedata import category

from headrace.om.base import FrozenMapping
from headrace.om.exceptions import ValidationFailed

CUT_MARK: Final = " ... (cut)"
MAX_DEPTH: Final = 64
"""Levels of nesting that a cleaned JSON value keeps."""

_UNREADABLE: Final = frozenset({"Cc", "Zl", "Zp"})
"""Unicode's categories of control characters and of what ends a line or a paragraph."""

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


def refuse_unstorable_text(field: str, value: str) -> None:
    """Return when PostgreSQL can hold the text.

    Raises:
        ValidationFailed: It holds a NUL or half of a surrogate pair.
    """
    if "\x00" in value:
        raise ValidationFailed(field, "text without NUL characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed(field, "text without lone surrogates (it is not valid Unicode)") from error


def refuse_unreadable_name(field: str, value: str) -> None:
    """Return when PostgreSQL can hold the name, and people can read it, type it and tell it from others.

    Raises:
        ValidationFailed: It cannot be stored, holds a line end or another control character, or is blank at an end.
    """
    refuse_unstorable_text(field, value)
    if value != value.strip() or any(category(each) in _UNREADABLE for each in value):
        raise ValidationFailed(field, f"one line without control characters, blank at neither end, got {value!r}")


def encode_json(field: str, value: object, *, limit_bytes: int) -> str:
    """Return the value as compact JSON text that PostgreSQL's jsonb takes.

    Raises:
        ValidationFailed: It is no JSON, holds text that cannot be stored, or is larger than the limit.
    """
    try:
        text = value.encoded(_dumped) if isinstance(value, FrozenMapping) else _dumped(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationFailed(field, f"a JSON value ({error})") from error
    if "\\u0000" in text:
        _refuse_nul_inside(field, value)
    _refuse_surrogates(field, text)
    if (size := len(text.encode())) > limit_bytes:
        raise ValidationFailed(field, f"at most {limit_bytes} bytes of JSON, got {size}")
    return text


def storable_text(value: object, *, limit_bytes: int) -> str:
    """Return the value as text that can be stored, whatever it is; never raises.

    NULs and lone surrogates become U+FFFD, longer text is cut at a character and marked as cut.
    """
    text = _text_of(value).replace("\x00", "\ufffd")
    # UTF-16 carries a lone surrogate through and decodes it to the replacement character.
    encoded = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    if len(encoded) <= limit_bytes:
        return encoded.decode()
    keep = max(0, limit_bytes - len(CUT_MARK))
    return encoded[:keep].decode("utf-8", "ignore") + CUT_MARK


def storable_json(value: object, *, limit_bytes: int) -> str:
    """Return the value as JSON text that can be stored, whatever it is; never raises, and always ends.

    What JSON cannot say becomes its text, and a value within itself a mark; a value that is too large, or that has
    no end, becomes an object that says so.
    """
    try:
        text = json.dumps(_Cleaning(limit_bytes).of(value), ensure_ascii=False, separators=(",", ":"))
        size = len(text.encode())
    except _TooMuch:
        return json.dumps({"truncated": True, "limit_bytes": limit_bytes})
    except BaseException:  # noqa: BLE001 - any object may misbehave in any way here
        return json.dumps({"unstorable": storable_text(type(value).__name__, limit_bytes=200)})
    if size > limit_bytes:
        return json.dumps({"truncated": True, "size_bytes": size, "limit_bytes": limit_bytes})
    return text


def refuse_unstorable_instant(field: str, value: datetime) -> None:
    """Return when PostgreSQL holds the instant and gives it back as it was.

    Raises:
        ValidationFailed: It has no time zone, or lies outside of `EARLIEST` to `LATEST`. The ends of Python's range
            become infinite in the database and cannot be compared afterwards.
    """
    if value.tzinfo is None or value.utcoffset() is None or not _is_within(value):
        raise ValidationFailed(field, f"an instant with a time zone, from {EARLIEST:%Y} to {LATEST:%Y}")


def storable_instant(value: datetime) -> datetime:
    """Return the instant, or the end of the range that it lies beyond.

    Raises:
        ValueError: It has no time zone.
    """
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError("expected an instant with a time zone")
    if _is_within(value):
        return value
    return EARLIEST if value.year < EARLIEST.year + 1 else LATEST


def _is_within(value: datetime) -> bool:
    # Years first: near the ends of Python's range an offset cannot be taken off.
    return EARLIEST.year < value.year < LATEST.year or (
        value.year in {EARLIEST.year, LATEST.year} and EARLIEST <= value <= LATEST
    )


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _refuse_nul_inside(field: str, value: object) -> None:
    if isinstance(value, str):
        refuse_unstorable_text(field, value)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            refuse_unstorable_text(field, str(key))
            _refuse_nul_inside(f"{field}.{key}", each)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            _refuse_nul_inside(f"{field}[{index}]", each)


def _refuse_surrogates(field: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed(field, "text without lone surrogates (it is not valid Unicode)") from error


def _text_of(value: object) -> str:
    try:
        return str(value)
    except BaseException:  # noqa: BLE001 - a broken __str__ must not lose the outcome, whatever it raises
        return f"<{type(value).__name__} that has no text>"


class _TooMuch(Exception):  # noqa: N818 - an answer within this module
    """The value has more parts than can be stored, or no end."""


class _Cleaning:
    """One walk through a value; it ends after as many parts as could be stored, whatever the value refers to."""

    def __init__(self, limit_bytes: int) -> None:
        self._num_left = limit_bytes
        self._open: set[int] = set()

    def of(self, value: object) -> Any:  # noqa: ANN401 - JSON holds any of its types
        self._num_left -= 1
        if self._num_left < 0:
            raise _TooMuch
        if value is None or isinstance(value, bool | int):
            return value if not isinstance(value, int) or abs(value) < 10**300 else str(value)
        if isinstance(value, float):
            return value if isfinite(value) else str(value)
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            return self._within(value)
        return storable_text(value, limit_bytes=1 << 20)

    def _within(self, value: Mapping[Any, Any] | Collection[Any]) -> Any:  # noqa: ANN401 - likewise
        if id(value) in self._open or len(self._open) >= MAX_DEPTH:
            return "..."
        self._open.add(id(value))
        try:
            if isinstance(value, Mapping):
                return {_clean_key(key): self.of(each) for key, each in value.items()}
            return [self.of(each) for each in value]
        finally:
            self._open.remove(id(value))


def _clean_key(key: object) -> str:
    return storable_text(key, limit_bytes=1000)
