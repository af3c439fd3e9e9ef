"""Single values for people."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

NOTHING: Final = "-"
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def shown_instant(at: datetime | None) -> str:
    """Return an instant in UTC to the second."""
    return NOTHING if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def shown_duration(duration: timedelta | None) -> str:
    """Return a duration in its two largest units."""
    if duration is None:
        return NOTHING
    seconds = int(duration.total_seconds())
    parts: list[str] = []
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count or parts or unit == "s":
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def shown_text(value: object | None) -> str:
    """Return a value as text, a dash for None and for no text."""
    return NOTHING if value is None or value == "" else str(value)


def first_line(text: str | None) -> str:
    """Return the first line of a text, marked where it goes on."""
    if not text:
        return NOTHING
    first, _, rest = text.partition("\n")
    return f"{first} ..." if rest.strip() else first


def shown_json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a JSON value over several lines, its characters as they are."""
    return NOTHING if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def seconds_of(duration: timedelta | None) -> float | None:
    """Return a duration in seconds for a document."""
    return None if duration is None else duration.total_seconds()
