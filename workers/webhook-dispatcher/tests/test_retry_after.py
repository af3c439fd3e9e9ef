"""Retry-After in both of its forms, and what says nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from headrace.workers.webhook_dispatcher.retry_after import read_retry_after

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
LIMIT = timedelta(hours=1)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 7 ", 7),
        ("3601", 3600),
        ("9" * 5000, 3600),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30),
        ("Monday, 30-Nov-26 12:00:30 GMT", 30),
        ("Mon Nov 30 12:00:30 2026", 30),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
    ],
)
def test_wait_is_read_when_the_value_has_a_known_form(value: str, seconds: int) -> None:
    assert read_retry_after(value, now=NOW, limit=LIMIT) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value", [None, "", "-5", "1.5", "soon", "٣", "Mon, 99 Nov 2026 12:00:00 GMT", "0x10", "1e3", "\x00", "Mon, 30 Nov"]
)
def test_nothing_is_read_when_the_value_has_no_known_form(value: str | None) -> None:
    assert read_retry_after(value, now=NOW, limit=LIMIT) is None
