import pytest

from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.marks import Mark, window


def _marks(*pairs: tuple[int, int]) -> list[Mark]:
    return [Mark(num_items, seconds * 1_000_000_000) for num_items, seconds in pairs]


def test_a_mark_is_read_from_its_line() -> None:
    assert Mark.read("120 1700000000000000000\n") == Mark(120, 1_700_000_000_000_000_000)


def test_latencies_are_read_where_they_are_told() -> None:
    assert Mark.read("100 5 250 900") == Mark(100, 5, 250, 900)


@pytest.mark.parametrize("line", ["", "12", "12 x", "1 2 3", "-1 5"])
def test_a_line_that_is_no_mark_is_refused(line: str) -> None:
    with pytest.raises(BenchError, match="expected a count and nanoseconds"):
        Mark.read(line)


def test_the_warm_up_is_left_out_of_the_rate() -> None:
    found = window([_marks((10, 0), (20, 10), (120, 20))], skipped=20)
    assert found.items_per_second == pytest.approx(10.0)


def test_only_the_time_in_which_all_were_at_work_counts() -> None:
    found = window([_marks((10, 0), (110, 10)), _marks((10, 5), (210, 25))], skipped=10)
    assert found.seconds == pytest.approx(5.0)
    assert found.num_items == pytest.approx(50 + 50)


def test_processes_that_never_overlapped_have_no_rate() -> None:
    with pytest.raises(BenchError, match="never at work at once"):
        window([_marks((10, 0), (20, 1)), _marks((10, 2), (20, 3))], skipped=0)


def test_a_process_that_had_too_little_to_do_is_named_by_its_count() -> None:
    with pytest.raises(BenchError, match="entered 20, 5"):
        window([_marks((10, 0), (20, 1)), _marks((5, 0))], skipped=0)
