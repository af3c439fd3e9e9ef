from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.infra.settings import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5s", timedelta(seconds=5)),
        ("250ms", timedelta(milliseconds=250)),
        ("2m", timedelta(minutes=2)),
        ("1h", timedelta(hours=1)),
        ("7d", timedelta(days=7)),
        ("1h30m", timedelta(minutes=90)),
        ("1.5s", timedelta(seconds=1.5)),
        (" 30 ", timedelta(seconds=30)),
        ("0.5", timedelta(seconds=0.5)),
        ("PT5S", timedelta(seconds=5)),
        ("P1DT2H", timedelta(hours=26)),
        ("0", timedelta(0)),
        (5, timedelta(seconds=5)),
        (timedelta(seconds=5), timedelta(seconds=5)),
    ],
)
def test_a_duration_is_read_in_every_form(text: object, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "5 s", "5sec", "-5s", -1, "1e9", "nan", float("nan"), float("inf"), "PT", "-PT5S", "9" * 30, True, None],
)
def test_what_is_no_duration_is_refused_with_what_was_expected(text: object) -> None:
    with pytest.raises(ValueError, match="expected a duration of zero or more: 250ms, 5s"):
        parse_duration(text)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3650)))
def test_a_written_duration_reads_back_the_same(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize(
    ("duration", "text"), [(timedelta(seconds=90), "90s"), (timedelta(minutes=2), "2m"), (timedelta(0), "0s")]
)
def test_a_duration_is_written_in_its_largest_whole_unit(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text
