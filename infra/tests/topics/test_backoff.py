"""How long the listener waits between two attempts."""

from datetime import timedelta

import pytest

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.topics.impl.listener import Backoff, ListenerOptions

OPTIONS = ListenerOptions(
    backoff_base=timedelta(seconds=1), backoff_cap=timedelta(seconds=6), stable_after=timedelta(seconds=10)
)


def test_the_wait_doubles_up_to_the_cap_when_failures_follow_each_other() -> None:
    backoff = Backoff(OPTIONS, jitter=lambda: 1.0)
    assert [backoff.next_delay(worked_for=0) for _ in range(5)] == [1, 2, 4, 6, 6]


def test_the_wait_is_half_at_least_when_the_jitter_is_lowest() -> None:
    backoff = Backoff(OPTIONS, jitter=lambda: 0.0)
    assert [backoff.next_delay(worked_for=0) for _ in range(4)] == [0.5, 1, 2, 3]


def test_the_wait_goes_on_growing_when_the_connection_worked_only_briefly() -> None:
    backoff = Backoff(OPTIONS, jitter=lambda: 1.0)
    assert [backoff.next_delay(worked_for=9.9) for _ in range(3)] == [1, 2, 4]


def test_the_wait_starts_small_when_the_connection_had_been_stable() -> None:
    backoff = Backoff(OPTIONS, jitter=lambda: 1.0)
    assert [backoff.next_delay(worked_for=worked) for worked in (0, 0, 10, 0)] == [1, 2, 1, 2]


def test_the_wait_stays_finite_when_failures_never_end() -> None:
    backoff = Backoff(OPTIONS, jitter=lambda: 1.0)
    assert max(backoff.next_delay(worked_for=0) for _ in range(5000)) == 6


@pytest.mark.parametrize("name", ["connect_timeout", "self_test_interval", "backoff_base", "queue_size"])
def test_options_are_refused_when_one_is_zero(name: str) -> None:
    value = 0 if name == "queue_size" else timedelta(0)
    with pytest.raises(ConfigurationInvalid, match=f"listener option {name} must be above zero"):
        ListenerOptions(**{name: value})  # type: ignore[arg-type]  # the name decides the type


def test_options_are_refused_when_the_cap_is_below_the_base() -> None:
    with pytest.raises(ConfigurationInvalid, match="backoff_cap must be at least"):
        ListenerOptions(backoff_base=timedelta(seconds=2), backoff_cap=timedelta(seconds=1))
