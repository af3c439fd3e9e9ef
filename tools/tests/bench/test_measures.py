import pytest

from headrace.tools.bench.measures import Measure, gathered, paired_ratio, percentile


def test_runs_of_one_name_become_one_measure() -> None:
    joined = gathered([[Measure("rate", "items/s", (1.0,))], [Measure("rate", "items/s", (3.0, 5.0))]])
    assert [each.samples for each in joined] == [(1.0, 3.0, 5.0)]


def test_systems_are_kept_apart() -> None:
    joined = gathered([[Measure("rate", "items/s", (1.0,)), Measure("rate", "items/s", (2.0,), "other")]])
    assert [each.system for each in joined] == ["headrace", "other"]


def test_a_ratio_is_taken_run_by_run() -> None:
    ours, theirs = Measure("rate", "items/s", (10.0, 1.0)), Measure("rate", "items/s", (5.0, 0.5), "other")
    assert paired_ratio(ours, theirs).samples == (2.0, 2.0)


def test_the_median_lies_in_the_middle() -> None:
    assert percentile([float(each) for each in range(1, 102)], 50) == pytest.approx(51.0)


def test_a_single_sample_is_every_percentile() -> None:
    assert percentile([7.0], 99) == 7.0
