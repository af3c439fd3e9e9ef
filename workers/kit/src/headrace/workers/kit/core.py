"""What the tasks of one worker share in memory."""

from dataclasses import dataclass

from headrace.infra.background.timing import ClockInterface
from headrace.infra.exceptions import InfraException
from headrace.om.exceptions import PlatformException
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


def trace_of(error: Exception) -> Exception | None:
    """Return what a line about a failed pass is to show the trace of; None where the sentence says all of it.

    An outage that is known for what it is, and that a later pass may not meet, needs no trace.
    """
    is_known = isinstance(error, PlatformException | InfraException) and error.retryable
    return None if is_known else error
