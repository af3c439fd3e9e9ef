"""The machine: every step of the queue's whole interface, in any order, over any implementation."""

import os
from typing import Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from om.tests.stateful.controlling import ControlSteps
from om.tests.stateful.enqueueing import EnqueueSteps
from om.tests.stateful.ground import Ground
from om.tests.stateful.operating import OperatorSteps
from om.tests.stateful.settling import SettleSteps
from om.tests.stateful.settling_again import SettleAgainSteps
from om.tests.stateful.sweeping import SweepSteps

LONG_EXAMPLES: Final = "HEADRACE_TEST_EXAMPLES"
"""The variable that asks for a long run: so many examples, each time others, and the shortest one of what breaks."""

TIMEOUT_SECONDS: Final = 3600 if LONG_EXAMPLES in os.environ else 240
"""Of a test that runs the machine: a busy computer takes several times as long as an idle one."""


class QueueMachine(EnqueueSteps, SettleSteps, SettleAgainSteps, OperatorSteps, SweepSteps, ControlSteps):
    """The queue as its users, workers, operators and sweeps see it, all at once."""


def drive(ground: Ground, *, num_examples: int, num_steps: int, finds_faults: bool = False) -> None:
    """Run the machine; raise what breaks first.

    Args:
        ground: What it runs over.
        num_examples: The examples of a usual run, the same every time; `HEADRACE_TEST_EXAMPLES` asks for others.
        num_steps: Steps of each.
        finds_faults: Whether a fault is planted: then it is a usual run in any case.
    """
    asked_for = None if finds_faults else os.environ.get(LONG_EXAMPLES)
    phases = (Phase.generate,) if asked_for is None else (Phase.generate, Phase.shrink)

    class Driven(QueueMachine):
        def __init__(self) -> None:
            super().__init__(ground)

    run_state_machine_as_test(
        Driven,
        settings=settings(
            max_examples=int(asked_for or num_examples),
            stateful_step_count=num_steps,
            derandomize=asked_for is None,
            database=None,
            deadline=None,
            print_blob=True,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
