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
from om.tests.stateful.world import BrokenPromise

LONG_EXAMPLES: Final = "HEADRACE_TEST_EXAMPLES"
"""The variable that asks for a long run: so many examples."""

EXAMPLES_OF_A_SEED: Final = 2
"""Hypothesis begins every run with the simplest example there is; the second is the one that a seed stands for."""

TIMEOUT_SECONDS: Final = 3600 if LONG_EXAMPLES in os.environ else 240
"""Of a test that runs the machine: a busy computer takes several times as long as an idle one."""


class QueueMachine(EnqueueSteps, SettleSteps, SettleAgainSteps, OperatorSteps, SweepSteps, ControlSteps):
    """The queue as its users, workers, operators and sweeps see it, all at once."""


def asked_for(num_examples: int) -> int:
    """Return how many examples to run: those of a usual run, or as many as `HEADRACE_TEST_EXAMPLES` asks for."""
    return int(os.environ.get(LONG_EXAMPLES, num_examples))


def drive(ground: Ground, *, num_examples: int, num_steps: int, shrinks: bool = False) -> None:
    """Run the machine example by example, each by itself and by a seed of its own; raise what breaks first.

    Over a ground whose time goes on, no two runs of an example are quite alike, and Hypothesis takes it for a fault of
    the test when one that it knows goes another way: there it must not look for a shorter one. A seed means the same
    steps in the same process: Hypothesis draws some values from the constants of the modules that are loaded.

    Args:
        ground: What it runs over.
        num_examples: How many.
        num_steps: Steps of each.
        shrinks: Whether to look for the shortest example of what breaks.
    """
    phases = (Phase.generate, Phase.shrink) if shrinks else (Phase.generate,)
    for number in range(num_examples):
        driven = seed(number)(_machine_over(ground))
        try:
            run_state_machine_as_test(driven, settings=_settings(num_steps, phases))
        except BrokenPromise as broken:
            broken.add_note(f"It is example {number} of {num_examples}.")
            raise


def _machine_over(ground: Ground) -> type[QueueMachine]:
    class Driven(QueueMachine):
        def __init__(self) -> None:
            super().__init__(ground)

    return Driven


def _settings(num_steps: int, phases: tuple[Phase, ...]) -> settings:
    return settings(
        max_examples=EXAMPLES_OF_A_SEED,
        stateful_step_count=num_steps,
        database=None,
        deadline=None,
        print_blob=True,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
