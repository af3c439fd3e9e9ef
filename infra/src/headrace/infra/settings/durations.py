"""Durations as people write them in an environment variable."""

import math
import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError

_EXPECTED = "expected a duration of zero or more: 250ms, 5s, 2m, 1h, 1h30m, PT5S, or plain seconds"
_UNIT_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_PARTS = re.compile(rf"(?:{_PART.pattern})+")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_ISO = TypeAdapter(timedelta)


def parse_duration(value: object) -> timedelta:
    """Reads a duration.

    Args:
        value: A timedelta, a number of seconds, or text: numbers with the units ms, s, m, h or d, ISO 8601, or a plain
            number of seconds.

    Raises:
        ValueError: It is none of these, is negative or is too long to hold; the message says what was expected.
    """
    try:
        parsed = _parse(value)
    except (OverflowError, ValidationError):
        parsed = None
    if parsed is None or parsed < timedelta(0):
        raise ValueError(_EXPECTED)
    return parsed


Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
"""A settings field that holds a duration; `parse_duration` reads it."""


def within(least: str, most: str) -> AfterValidator:
    """Bound a `Duration` field, both ends included: what is outside is refused in a sentence that names the range.

    Args:
        least: The shortest that works, as `parse_duration` reads it.
        most: The longest.
    """
    shortest, longest = parse_duration(least), parse_duration(most)

    def checked(given: timedelta) -> timedelta:
        if not shortest <= given <= longest:
            raise ValueError(f"expected a duration from {least} to {most}, got {format_duration(given)}")
        return given

    return AfterValidator(checked)


def format_duration(duration: timedelta) -> str:
    """The text that `parse_duration` reads back, in the largest whole unit: `90s`, `2m`, `250ms`."""
    microseconds = duration // timedelta(microseconds=1)
    for unit, size in reversed(_UNIT_MICROSECONDS.items()):
        if microseconds and microseconds % size == 0:
            return f"{microseconds // size}{unit}"
    return f"{microseconds / 1000:.3f}ms" if microseconds else "0s"


def _parse(value: object) -> timedelta | None:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return timedelta(seconds=value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _PLAIN.fullmatch(text):
        return timedelta(seconds=float(text))
    if _PARTS.fullmatch(text):
        parts = (float(number) * _UNIT_MICROSECONDS[unit] for number, unit in _PART.findall(text))
        return timedelta(microseconds=sum(parts))
    return _ISO.validate_python(text) if text.startswith("P") else None
