"""Bounded waiting for a state of the outside world."""

import time
from collections.abc import Callable
from datetime import timedelta

POLL_INTERVAL = timedelta(milliseconds=20)


def holds_within(condition: Callable[[], bool], timeout: timedelta) -> bool:
    """Polls a condition until it holds or the time is up.

    Args:
        condition: Asked at least once, then about every 20 ms; it must return quickly itself.
        timeout: How long to keep asking.

    Returns:
        Whether the condition held within the time.
    """
    deadline = time.monotonic() + timeout.total_seconds()
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_INTERVAL.total_seconds())
    return True
