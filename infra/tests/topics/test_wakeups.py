"""A burst of enqueues makes few messages, none of which is late or lost."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from headrace.infra.topics import Topics, WorkAvailable
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.infra.topics.wakeups import CoalescedWakeups, WakeWindows
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.messages import Ear

NEVER = timedelta(days=1)


class Wire:
    """The topics and what was heard on them, as (lane, number of items)."""

    def __init__(self) -> None:
        self.topics = TopicsInProcessImpl()
        self.ear = Ear()

    def heard(self) -> list[tuple[str, int]]:
        return [(each.lane, each.num_items) for each in self.ear.heard if isinstance(each, WorkAvailable)]


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    wire = Wire()
    await wire.topics.start()
    await wire.topics.subscribe(Topics.WORK_AVAILABLE, wire.ear)
    yield wire
    await wire.topics.close()


async def test_the_first_goes_out_at_once_and_the_rest_as_one_when_a_burst_comes(wire: Wire) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=NEVER)
    await wakeups.start()
    wakeups.wake("default", 5)
    await eventually(lambda: wire.heard() == [("default", 5)])
    for _ in range(1000):
        wakeups.wake("default", 1)
    await wakeups.close()
    await eventually(lambda: wire.heard() == [("default", 5), ("default", 1000)])


async def test_the_rest_goes_out_when_the_window_has_passed(wire: Wire) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=timedelta(milliseconds=30))
    await wakeups.start()
    wakeups.wake("default", 1)
    await eventually(lambda: len(wire.heard()) == 1)
    wakeups.wake("default", 2)
    wakeups.wake("default", 3)
    await eventually(lambda: wire.heard() == [("default", 1), ("default", 5)])
    await wakeups.close()


async def test_another_lane_goes_out_at_once_when_one_is_in_its_window(wire: Wire) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=NEVER)
    await wakeups.start()
    wakeups.wake("busy", 1)
    await eventually(lambda: wire.heard() == [("busy", 1)])
    wakeups.wake("busy", 1)
    wakeups.wake("other", 7)
    await eventually(lambda: wire.heard() == [("busy", 1), ("other", 7)])
    await wakeups.close()


@pytest.mark.parametrize("num_items", [0, -1])
async def test_nothing_goes_out_when_nothing_was_enqueued(wire: Wire, num_items: int) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=NEVER)
    await wakeups.start()
    wakeups.wake("default", num_items)
    wakeups.wake("default", 2)
    await eventually(lambda: wire.heard() == [("default", 2)])
    await wakeups.close()


async def test_later_wakeups_go_out_when_one_cannot_be_published(wire: Wire) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=NEVER)
    await wakeups.start()
    wakeups.wake(None, 1)  # type: ignore[arg-type]  # the mistake that this test is about
    wakeups.wake("default", 1)
    await eventually(lambda: wire.heard() == [("default", 1)])
    await wakeups.close()


async def test_early_wakeups_go_out_when_publishing_starts(wire: Wire) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=NEVER)
    wakeups.wake("default", 4)
    await wakeups.start()
    await wakeups.start()
    await eventually(lambda: wire.heard() == [("default", 4)])
    await wakeups.close()
    await wakeups.close()


async def test_each_message_has_a_key_of_its_own(wire: Wire) -> None:
    wakeups = CoalescedWakeups(wire.topics, window=NEVER)
    await wakeups.start()
    for lane in ("one", "two"):
        wakeups.wake(lane, 1)
    await eventually(lambda: len(wire.ear.heard) == 2)
    assert len({each.idempotency_key for each in wire.ear.heard}) == 2
    await wakeups.close()


def test_a_lane_is_due_again_exactly_when_its_window_is_over() -> None:
    windows = WakeWindows(10)
    windows.add("default", 1)
    assert windows.next_due_at(100) == 100
    assert windows.take_due(100) == {"default": 1}
    assert windows.next_due_at(100) is None
    windows.add("default", 2)
    assert windows.next_due_at(101) == 110
    assert windows.take_due(109.9) == {}
    assert windows.take_due(110) == {"default": 2}


def test_a_lane_that_nobody_wakes_is_forgotten_when_its_window_is_over() -> None:
    windows = WakeWindows(10)
    windows.add("default", 1)
    windows.take_due(100)
    windows.take_due(200)
    windows.add("default", 1)
    assert windows.next_due_at(200) == 200
