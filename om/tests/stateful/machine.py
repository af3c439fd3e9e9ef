"""The machine: every step of the queue's whole interface, in any order, over any implementation."""

import os
from typing import Final

from hypothesis import HealthCheck, Phase, seed, settings
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
    if asked_for is None:
        run_state_machine_as_test(_machine_over(ground), settings=_settings(num_examples, num_steps, Phase.generate))
    else:
        more = settings(_settings(int(asked_for), num_steps, Phase.generate, Phase.shrink), derandomize=False)
        run_state_machine_as_test(_machine_over(ground), settings=more)


def drive_each(ground: Ground, *, num_examples: int, num_steps: int) -> None:
    """Run the machine example by example, each by itself: over a ground whose time goes on, no two are quite alike.

    Hypothesis takes it for a fault of the test when an example that it knows goes another way. A usual run has the same
    seeds every time; `HEADRACE_TEST_EXAMPLES` asks for so many more.
    """
    for number in range(int(os.environ.get(LONG_EXAMPLES, num_examples))):
        driven = seed(number)(_machine_over(ground))
        alone = settings(_settings(1, num_steps, Phase.generate), derandomize=False)
        run_state_machine_as_test(driven, settings=alone)


def _machine_over(ground: Ground) -> type[QueueMachine]:
    class Driven(QueueMachine):
        def __init__(self) -> None:
            super().__init__(ground)

    return Driven


def _settings(num_examples: int, num_steps: int, *phases: Phase) -> settings:
    return settings(
        max_examples=num_examples,
        stateful_step_count=num_steps,
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=True,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
