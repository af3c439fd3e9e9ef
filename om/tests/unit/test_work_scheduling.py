"""Which ticks a timing has, over changes of the clock, and which of them are due."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.om.exceptions import ValidationFailed
from headrace.om.work.scheduling import due_ticks, item_of_tick, next_tick, refuse_bad_timing, tick_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.schedule import MissedTicks, WorkSchedule
from om.tests.contracts.work_items import a_work_item

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
LIMIT = 100
INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the zone is given beside them
ZONES = st.sampled_from(["UTC", "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])
CRONS = st.sampled_from(
    ["* * * * *", "*/15 * * * *", "30 2 * * *", "0,30 1-3 * * *", "0 */6 * * *", "15 3 29 2 *", "0 9 * * MON#1"]
)
CRON_TIMINGS = st.builds(lambda cron, zone: {"cron": cron, "time_zone": zone}, CRONS, ZONES)
INTERVALS = st.timedeltas(timedelta(seconds=1), timedelta(days=40))
INTERVAL_TIMINGS = st.builds(lambda every, anchor: {"every": every, "anchor_at": anchor}, INTERVALS, INSTANTS)
TIMINGS = st.one_of(CRON_TIMINGS, INTERVAL_TIMINGS)
OUTAGES = st.timedeltas(timedelta(0), timedelta(days=3))


def a_schedule(**fields: Any) -> WorkSchedule:  # noqa: ANN401 - any field
    return WorkSchedule.model_validate({"name": "nightly", "kind": WorkKind.NOOP} | fields)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]  # the parts of an instant, as a case writes them


def first_ticks(schedule: WorkSchedule, after: datetime, num: int) -> list[datetime]:
    ticks: list[datetime] = []
    for _ in range(num):
        tick = next_tick(schedule, ticks[-1] if ticks else after)
        assert tick is not None
        ticks.append(tick)
    return ticks


@pytest.mark.parametrize(
    ("cron", "zone", "after", "ticks"),
    [
        ("30 2 * * *", "Europe/Vienna", utc(2026, 3, 28, 2), [utc(2026, 3, 29, 1), utc(2026, 3, 30, 0, 30)]),
        ("0,30 2 * * *", "Europe/Vienna", utc(2026, 3, 28, 2), [utc(2026, 3, 29, 1), utc(2026, 3, 30)]),
        ("30 2 * * *", "America/New_York", utc(2026, 3, 8, 6), [utc(2026, 3, 8, 7), utc(2026, 3, 9, 6, 30)]),
        ("30 2 * * *", "Europe/Vienna", utc(2026, 10, 24, 2), [utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)]),
        ("30 1 * * *", "America/New_York", utc(2026, 10, 31, 6), [utc(2026, 11, 1, 5, 30), utc(2026, 11, 2, 6, 30)]),
        ("45 2 * * *", "Europe/Vienna", utc(2026, 10, 25, 1, 20), [utc(2026, 10, 26, 1, 45)]),
        ("30 * * * *", "Europe/Vienna", utc(2026, 10, 25, 0), [utc(2026, 10, 25, h, 30) for h in range(3)]),
        ("*/30 2 * * *", "Europe/Vienna", utc(2026, 10, 25), [utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1)]),
        ("30 * * * *", "Europe/Vienna", utc(2026, 3, 29, 0), [utc(2026, 3, 29, h, 30) for h in range(3)]),
        ("*/30 2 * * *", "Europe/Vienna", utc(2026, 3, 28, 2), [utc(2026, 3, 30), utc(2026, 3, 30, 0, 30)]),
        ("30 * * * *", "America/New_York", utc(2026, 11, 1, 5), [utc(2026, 11, 1, h, 30) for h in (5, 6, 7)]),
        ("0 0 L * *", "UTC", utc(2026, 1, 31, 1), [utc(2026, 2, 28), utc(2026, 3, 31)]),
    ],
    ids=[
        "left out in Vienna: right after the gap",
        "two left out: once",
        "left out in New York",
        "twice in Vienna: the first time",
        "twice in New York",
        "set up within the repeated hour: not again",
        "each hour: the repeated one too",
        "each half hour of a repeated hour",
        "each hour: none more for the gap",
        "each half hour of an hour that is left out: none",
        "each hour in New York: the repeated one too",
        "the last day of a month",
    ],
)
def test_ticks_keep_to_the_clock_on_the_wall_where_it_changes(
    cron: str, zone: str, after: datetime, ticks: list[datetime]
) -> None:
    assert first_ticks(a_schedule(cron=cron, time_zone=zone), after, len(ticks)) == ticks


def test_intervals_are_counted_from_the_anchor_both_ways() -> None:
    hourly = a_schedule(every=timedelta(hours=1))
    assert first_ticks(hourly, NOON, 2) == [NOON + timedelta(hours=1), NOON + timedelta(hours=2)]
    anchored = a_schedule(every=timedelta(hours=1), anchor_at=NOON + timedelta(days=3, minutes=20))
    assert next_tick(anchored, NOON) == NOON + timedelta(minutes=20)
    assert next_tick(anchored, NOON + timedelta(days=4)) == NOON + timedelta(days=4, minutes=20)


@given(timing=TIMINGS, after=INSTANTS)
def test_each_tick_is_later_than_the_one_before(timing: dict[str, Any], after: datetime) -> None:
    ticks = first_ticks(a_schedule(**timing), after, 5)
    assert all(one < two for one, two in pairwise([after, *ticks]))


@given(timing=TIMINGS, after=INSTANTS, outage=OUTAGES, missed=st.sampled_from(MissedTicks), limit=st.integers(1, 40))
def test_what_is_due_never_comes_early_nor_twice_nor_beyond_the_limit(
    timing: dict[str, Any], after: datetime, outage: timedelta, missed: MissedTicks, limit: int
) -> None:
    schedule = a_schedule(missed=missed, missed_after=timedelta(hours=1), **timing)
    first = next_tick(schedule, after)
    assert first is not None
    now = first + outage
    due = due_ticks(schedule.model_copy(update={"next_fire_at": first}), now, limit)
    assert len(due.ticks) <= limit
    assert all(first <= tick <= now for tick in due.ticks)
    assert list(due.ticks) == sorted(set(due.ticks))
    assert due.next_fire_at == next_tick(schedule, now)
    assert due.next_fire_at is not None
    assert due.next_fire_at > now


@given(timing=TIMINGS, after=INSTANTS, outage=st.timedeltas(timedelta(0), timedelta(hours=3)))
def test_every_tick_is_made_up_for_where_all_are(timing: dict[str, Any], after: datetime, outage: timedelta) -> None:
    schedule = a_schedule(missed=MissedTicks.ALL, **timing)
    first = next_tick(schedule, after)
    assert first is not None
    due = due_ticks(schedule.model_copy(update={"next_fire_at": first}), first + outage, 20_000)
    expected = [first]
    while (tick := next_tick(schedule, expected[-1])) is not None and tick <= first + outage:
        expected.append(tick)
    assert list(due.ticks) == expected


@pytest.mark.parametrize(
    ("missed", "minutes_ago"),
    [(MissedTicks.SKIP, [1, 0]), (MissedTicks.ONE, [2, 1, 0]), (MissedTicks.ALL, [5, 4, 3, 2, 1, 0])],
)
def test_late_ticks_are_skipped_or_one_or_all_made_up_for(missed: MissedTicks, minutes_ago: list[int]) -> None:
    waiting = {"next_fire_at": NOON - timedelta(minutes=5), "missed": missed, "missed_after": timedelta(minutes=1)}
    due = due_ticks(a_schedule(every=timedelta(minutes=1), **waiting), NOON, LIMIT)
    assert list(due.ticks) == [NOON - timedelta(minutes=ago) for ago in minutes_ago]


def test_the_latest_ticks_stay_after_a_long_outage() -> None:
    schedule = a_schedule(cron="* * * * *", missed=MissedTicks.ALL, next_fire_at=NOON - timedelta(days=3650))
    due = due_ticks(schedule, NOON, 3)
    assert list(due.ticks) == [NOON - timedelta(minutes=ago) for ago in (2, 1, 0)]


def test_nothing_is_due_before_its_instant() -> None:
    schedule = a_schedule(every=timedelta(hours=1), next_fire_at=NOON)
    early = due_ticks(schedule, NOON - timedelta(microseconds=1), LIMIT)
    assert (early.ticks, early.next_fire_at) == ((), NOON)
    assert due_ticks(schedule, NOON, LIMIT).ticks == (NOON,)


def test_the_item_of_a_tick_tells_its_nominal_time_and_belongs_to_it() -> None:
    schedule = a_schedule(every=timedelta(hours=1))
    item, again = item_of_tick(schedule, NOON), item_of_tick(schedule, NOON)
    assert tick_of(item) == NOON == item.available_at
    assert item.idempotency_key == again.idempotency_key
    assert item.idempotency_key != item_of_tick(schedule, NOON + timedelta(hours=1)).idempotency_key
    assert item.origin == "schedule:nightly"
    strange = (None, "mine", "schedule:x:soon", "schedule:nightly:2026-01-01", f"schedule:{schedule.id}:2026-01-01")
    assert [tick_of(a_work_item(idempotency_key=key)) for key in strange] == [None] * len(strange)


@pytest.mark.parametrize(
    ("timing", "field"),
    [
        ({"cron": "61 * * * *"}, "cron"),
        ({"cron": "* * * * * *"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "every day"}, "cron"),
        ({"cron": "0 0 * * *", "time_zone": "Europe/Atlantis"}, "time_zone"),
        ({"cron": "0 0 * * *", "time_zone": "../etc/passwd"}, "time_zone"),
        ({"cron": "0 0 * * *", "time_zone": "Europe"}, "time_zone"),
    ],
)
def test_a_timing_that_cannot_be_kept_is_refused_by_its_field(timing: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationFailed, match=rf"^{field}: ") as refused:
        refuse_bad_timing(a_schedule(**timing), NOON)
    assert "expected" in str(refused.value)


@pytest.mark.parametrize(
    "timing",
    [
        {},
        {"cron": "0 0 * * *", "every": timedelta(hours=1)},
        {"every": timedelta(milliseconds=999)},
        {"every": timedelta(hours=1), "time_zone": "Europe/Vienna"},
        {"cron": "0 0 * * *", "anchor_at": NOON},
    ],
    ids=["no timing", "two timings", "below a second", "an interval in a zone", "an anchor beside cron"],
)
def test_a_schedule_has_one_timing(timing: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="WorkSchedule"):
        a_schedule(**timing)
