from datetime import timedelta

from headrace.workers.kit.backoff import Backoff, backoff_of_polls

SECOND = timedelta(seconds=1)


def rests(backoff: Backoff, num: int) -> list[float]:
    return [backoff.next_rest().total_seconds() for _ in range(num)]


def test_rests_double_up_to_the_longest_when_failures_follow_each_other() -> None:
    assert rests(Backoff(SECOND, 5 * SECOND), 5) == [1, 2, 4, 5, 5]


def test_rests_are_short_again_when_something_succeeded() -> None:
    backoff = Backoff(SECOND, 5 * SECOND)
    rests(backoff, 3)
    backoff.reset()
    assert rests(backoff, 2) == [1, 2]


def test_rests_stay_bounded_when_failures_never_end() -> None:
    assert max(rests(Backoff(SECOND, timedelta(minutes=1)), 5000)) == 60


def test_no_rest_is_longer_than_the_interval_when_polls_are_frequent() -> None:
    assert rests(backoff_of_polls(timedelta(milliseconds=200)), 2) == [0.2, 0.2]


def test_no_rest_is_longer_than_half_a_minute_when_polls_are_rare() -> None:
    assert rests(backoff_of_polls(timedelta(hours=1)), 7) == [1, 2, 4, 8, 16, 30, 30]
