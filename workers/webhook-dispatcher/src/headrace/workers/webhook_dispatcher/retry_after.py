"""What a Retry-After header asks for; pure."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

_MAX_DIGITS: Final = 9
"""More digits of seconds than this are no delay that anybody means."""


def read_retry_after(value: str | None, *, now: datetime, limit: timedelta) -> timedelta | None:
    """Return how long to wait by a Retry-After header, or None where it says nothing that can be used.

    Args:
        value: The header's value: whole seconds, or an HTTP date; None when it was not sent.
        now: The present instant, aware, which a date is measured from.
        limit: A longer wait is cut to this.

    Returns:
        Zero to `limit`. None for a missing, negative or unreadable value; a date in the past means zero.

    Source: RFC 9110, section 10.2.3.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text)), limit) if len(text) <= _MAX_DIGITS else limit
    return _from_date(text, now, limit)


def _from_date(text: str, now: datetime, limit: timedelta) -> timedelta | None:
    try:
        at = parsedate_to_datetime(text)
        # The obsolete form asctime() carries no zone; the RFC has it in UTC.
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(timedelta(0), min(wait, limit))
