"""How long a row waits that could not be relayed."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headrace.om.outbox.rules import RelayBackoff, relay_delay

BACKOFF = RelayBackoff(base=timedelta(seconds=1), cap=timedelta(seconds=10))


def test_the_delay_doubles_up_to_the_cap() -> None:
    assert [relay_delay(BACKOFF, failures).total_seconds() for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]


@given(st.integers(min_value=0, max_value=2**31 - 1), st.floats(min_value=0.001, max_value=86_400))
def test_the_delay_is_above_zero_and_within_the_cap(num_failures: int, base_seconds: float) -> None:
    backoff = RelayBackoff(base=timedelta(seconds=base_seconds), cap=timedelta(hours=1))
    assert timedelta(0) < relay_delay(backoff, num_failures) <= backoff.cap
