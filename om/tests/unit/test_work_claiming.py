"""The rules of claims: what is in a bucket, who is next in a line, what room there is."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.om.base import new_id
from headrace.om.work.claiming import (
    NUM_LINES,
    Bucket,
    Running,
    head_of,
    is_about,
    is_paused,
    next_line,
    room_of,
    tokens_now,
)
from headrace.om.work.storage.impl.item_columns import line_of
from headrace.om.work.types.control import LimitScope, WorkControls, WorkLimit, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import a_work_item

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ORG, OTHER = new_id(), new_id()


def due(minutes_ago: float = 0, **fields: object) -> WorkItem:
    return a_work_item(available_at=NOW - timedelta(minutes=minutes_ago), **fields)


def running(*claims: tuple[UUID, WorkItem]) -> Running:
    return Running(claims)


@pytest.mark.parametrize(
    ("tokens", "seconds", "expected"),
    [(0.0, 0.0, 0.0), (0.0, 2.0, 1.0), (1.5, 1.0, 2.0), (0.0, 1000.0, 5.0), (5.0, 0.0, 5.0), (2.0, -60.0, 2.0)],
)
def test_a_bucket_fills_steadily_up_to_its_burst(tokens: float, seconds: float, expected: float) -> None:
    rate = WorkRate(kind=WorkKind.NOOP, per_second=0.5, burst=5)
    assert tokens_now(rate, Bucket(tokens, NOW), NOW + timedelta(seconds=seconds)) == pytest.approx(expected)


@given(
    per_second=st.floats(0.01, 1000),
    burst=st.integers(1, 1000),
    waits=st.lists(st.floats(0, 100), min_size=1, max_size=50),
)
def test_no_more_begin_than_the_burst_and_what_flowed_in(per_second: float, burst: int, waits: list[float]) -> None:
    rate = WorkRate(kind=WorkKind.NOOP, per_second=per_second, burst=burst)
    bucket, now, num_begun = Bucket(float(burst), NOW), NOW, 0
    for wait in waits:
        now += timedelta(seconds=wait)
        tokens = tokens_now(rate, bucket, now)
        begun = int(tokens)
        bucket, num_begun = Bucket(tokens - begun, now), num_begun + begun
    assert num_begun <= burst + per_second * (now - NOW).total_seconds() + 1e-6


def test_nobody_is_next_in_an_empty_line() -> None:
    assert head_of([], NOW) is None


def test_who_became_due_first_is_next_then_the_smaller_id() -> None:
    line = [due(5), due(9), due(9)]
    assert head_of(line, NOW) == line[1]


def test_who_was_begun_goes_before_who_was_due_earlier() -> None:
    begun = due(1, started_at=NOW - timedelta(minutes=2))
    assert head_of([due(9), begun], NOW) == begun


def test_who_is_claimed_goes_before_everybody() -> None:
    held = due(1, status=WorkStatus.CLAIMED, started_at=NOW)
    assert head_of([due(9), due(8, started_at=NOW), held], NOW) == held


def test_who_is_not_due_and_was_never_begun_does_not_stand_in_line() -> None:
    ready = due(1)
    assert head_of([due(-60), ready], NOW) == ready
    parked = due(-60, started_at=NOW)
    assert head_of([parked, ready], NOW) == parked


def limits(*each: WorkLimit) -> WorkControls:
    return WorkControls(limits=each)


def test_there_is_no_limit_where_none_is_said() -> None:
    assert room_of(WorkControls(), running(), ORG, due()) is None


def test_a_key_has_room_for_one_where_no_limit_is_said() -> None:
    item = due(concurrency_key="k")
    assert room_of(WorkControls(), running(), ORG, item) == 1
    assert room_of(WorkControls(), running((ORG, item)), ORG, item) == 0
    assert room_of(WorkControls(), running((OTHER, item)), ORG, item) == 1


def test_the_smallest_room_counts_and_is_never_below_zero() -> None:
    wide = WorkLimit(scope=LimitScope.KIND, kind=WorkKind.NOOP, max_running=9)
    narrow = WorkLimit(scope=LimitScope.ORG, max_running=2)
    item = due()
    assert room_of(limits(wide, narrow), running((ORG, item)), ORG, item) == 1
    assert room_of(limits(wide, narrow), running(*[(ORG, item)] * 4), ORG, item) == 0


def test_an_orgs_own_limit_goes_before_the_one_of_each_org() -> None:
    each = WorkLimit(scope=LimitScope.ORG, max_running=2)
    own = WorkLimit(scope=LimitScope.ORG, org_id=ORG, max_running=7)
    assert (room_of(limits(each, own), running(), ORG, due()), room_of(limits(each, own), running(), OTHER, due())) == (
        7,
        2,
    )


def test_pauses_are_about_what_they_name() -> None:
    item = due(lane="slow")
    for pause in (WorkPause(lane="slow"), WorkPause(kind=WorkKind.NOOP), WorkPause(org_id=ORG)):
        assert is_paused(WorkControls(pauses=(pause,)), ORG, item)
    for pause in (WorkPause(lane="fast"), WorkPause(kind=WorkKind.DELIVER_WEBHOOK), WorkPause(org_id=OTHER)):
        assert not is_paused(WorkControls(pauses=(pause,)), ORG, item)


def test_what_is_said_of_other_lanes_and_kinds_and_of_keys_bounds_no_claim() -> None:
    of_key = WorkLimit(scope=LimitScope.KEY, kind=WorkKind.NOOP, max_running=1)
    of_kind = WorkLimit(scope=LimitScope.KIND, kind=WorkKind.DELIVER_WEBHOOK, max_running=1)
    nothing = WorkControls(limits=(of_key, of_kind), pauses=(WorkPause(lane="other"),))
    assert not is_about(nothing, "default", [WorkKind.NOOP])
    assert is_about(nothing, "default", [WorkKind.DELIVER_WEBHOOK])
    assert is_about(nothing, "other", [WorkKind.NOOP])


@pytest.mark.parametrize("num_lines", [2, 10, 300])
def test_each_of_many_lines_is_the_first_one_soon(num_lines: int) -> None:
    lines = [place * (NUM_LINES // num_lines) + 1 for place in range(num_lines)]
    first, line = set(), 0
    for _ in range(3 * num_lines):
        line = next_line(line)
        first.add(min(lines, key=lambda each: (each <= line, each)))
    assert first == set(lines)


def test_a_line_is_above_zero_and_tells_the_sorts_of_keys_apart() -> None:
    of_key, of_order = line_of(due(concurrency_key="k")), line_of(due(ordering_key="k"))
    assert line_of(due()) == 0
    assert 0 < min(of_key, of_order) < max(of_key, of_order) < NUM_LINES
