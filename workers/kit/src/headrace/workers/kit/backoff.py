"""How long a loop rests after a failure: longer from one failure to the next, within a bound, never not at all."""

from datetime import timedelta
from typing import Final

MAX_DOUBLINGS: Final = 16
FIRST_REST: Final = timedelta(seconds=1)
LONGEST_REST: Final = timedelta(seconds=30)


class Backoff:
    """Rests that double from failure to failure and are short again after a success.

    Args:
        first: After the first failure in a row; above zero.
        longest: Bounds every rest, the first one too; above zero.
    """

    def __init__(self, first: timedelta, longest: timedelta) -> None:
        self._first = first
        self._longest = longest
        self._num_failures = 0

    def next_rest(self) -> timedelta:
        """Count a failure and return how long to rest after it."""
        rest = min(self._first * (1 << min(self._num_failures, MAX_DOUBLINGS)), self._longest)
        self._num_failures += 1
        return rest

    def reset(self) -> None:
        """Forget the failures: something succeeded."""
        self._num_failures = 0


def backoff_of_polls(interval: timedelta) -> Backoff:
    """Return the rests of a loop that looks this often: from a second to half a minute, never above its interval.

    So a blip costs little where the interval is long, and a flapping database makes no busy loop.
    """
    return Backoff(FIRST_REST, min(interval, LONGEST_REST))
