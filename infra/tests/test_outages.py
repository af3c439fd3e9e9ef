"""What a client remembers of a backend that is away."""

import logging
from datetime import timedelta

import pytest

from headrace.infra.outages import Outage, root_error

LOGGER = logging.getLogger("headrace.infra.outages.test")


def test_each_outage_is_logged_once_at_both_ends(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER.name)
    outage = Outage("the cache", LOGGER)
    for _ in range(2):
        for _ in range(3):
            outage.failed(OSError("gone"))
        for _ in range(2):
            outage.recovered()
    gone, back = "the cache is unreachable: OSError: gone", "the cache is reachable again after 3 failures"
    assert caplog.messages == [gone, back, gone, back]


def test_the_backend_is_spared_for_the_pause_when_it_failed() -> None:
    now = 100.0
    outage = Outage("the cache", LOGGER, pause=timedelta(seconds=2), clock=lambda: now)
    assert outage.is_worth_trying()
    outage.failed(OSError("gone"))
    now = 101.9
    assert not outage.is_worth_trying()
    now = 102.0
    assert outage.is_worth_trying()


def test_a_group_is_named_by_its_first_cause() -> None:
    inner = ExceptionGroup("inner", [OSError("gone"), ValueError("other")])
    assert str(root_error(ExceptionGroup("outer", [inner]))) == "gone"
