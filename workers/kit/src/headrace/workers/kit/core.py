"""What the tasks of one worker share in memory."""

from dataclasses import dataclass

from headrace.infra.background.timing import ClockInterface
from headrace.workers.kit.health import LoopState
from headrace.workers.kit.held import HeldClaims
from headrace.workers.kit.metrics import WorkerMetrics


@dataclass(frozen=True, slots=True)
class LoopCore:
    """The book of claims, the loops' state, the clock and the metrics of one worker."""

    held: HeldClaims
    state: LoopState
    clock: ClockInterface
    metrics: WorkerMetrics
