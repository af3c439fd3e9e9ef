"""The machine over memory."""

import pytest

from om.tests.stateful.ground import memory_ground
from om.tests.stateful.machine import TIMEOUT_SECONDS, asked_for, drive

pytestmark = pytest.mark.long


@pytest.mark.timeout(TIMEOUT_SECONDS)
def test_the_queue_keeps_its_promises_over_memory() -> None:
    with memory_ground() as ground:
        drive(ground, num_examples=asked_for(150), num_steps=40, shrinks=True)
