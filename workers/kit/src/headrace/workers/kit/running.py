"""One item's run, from its claim to the settlement that is to be written: a row of small steps that cannot fail."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import Any, Final

from headrace.infra.boot import log_context
from headrace.infra.boot.tracing import TracingInterface
from headrace.om.work import rules
from headrace.om.work.registry import HandlerRegistry, RegisteredHandler
from headrace.om.work.stamping import with_follow_ups_stamped
from headrace.om.work.types.handler import Steering
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.settlement import Outcome, Settlement
from headrace.workers.kit.claims import enter_claim
from headrace.workers.kit.held import HeldClaim, Interruption
from headrace.workers.kit.metrics import WorkerMetrics
from headrace.workers.kit.settling import SettlementQueue

logger = logging.getLogger(__name__)


NO_END: Final = "the handler ended by an error that cannot be read: its own code raised when it was asked for its text"


class HandlerTimedOut(Exception):  # noqa: N818 - the fact that an operator reads as the item's error code
    """The handler took longer than its kind may; counts as a failed attempt."""

    code = "handler_timeout"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How long handlers may run: by kind, else the general limit."""

    timeout: timedelta
    timeouts: Mapping[WorkKind, timedelta]

    def of(self, kind: WorkKind) -> timedelta:
        """Return the limit of a kind."""
        return self.timeouts.get(kind, self.timeout)


class ItemRunner:
    """Runs handlers and turns however they end into settlements.

    Args:
        worker: The worker's name, for notes that operators read.
        registry: The handlers.
        limits: How long they may run.
        settlements: Where the settlements go.
        metrics: What is measured.
        tracing: Where runs are traced to.
    """

    def __init__(
        self,
        worker: str,
        registry: HandlerRegistry,
        limits: RunLimits,
        settlements: SettlementQueue,
        metrics: WorkerMetrics,
        tracing: TracingInterface,
    ) -> None:
        self._worker = worker
        self._registry = registry
        self._limits = limits
        self._settlements = settlements
        self._metrics = metrics
        self._tracing = tracing
        self.is_torn_down: Callable[[], bool] = _stands
        """Whether whoever started the items is being cancelled itself: then so are they, and nobody said why."""

    async def run(self, claim: HeldClaim) -> None:
        """Do one item's work, in a task of its own, and queue its settlement.

        Whatever the handler raises is an end of its item; nothing goes on to the task's group.
        """
        enter_claim(claim)
        with log_context(**claim.identifiers):
            try:
                settlement = await self._worked(claim)
            except BaseException as error:  # noqa: BLE001 - SystemExit too, and a cancel, is only this item's end
                settlement = self._ended(claim, error)
            _tell(claim, settlement)
        self._settlements.put(claim, settlement)

    def release(self, claim: HeldClaim, note: str) -> None:
        """Queue the release of an item that was claimed and not run to an end."""
        self._settlements.put(claim, rules.released(claim.item, f"{note} (worker {self._worker})"))

    def give_up(self, claim: HeldClaim) -> None:
        """Queue the end of an item whose task left none: a failed attempt, but for a handler that never began.

        A refund of what ran would let an item that always ends so run for ever.
        """
        if claim.has_begun:
            self._settlements.put(claim, rules.failed(claim.item, NO_END))
        else:
            self.release(claim, f"not started: {claim.interruption}")

    async def _worked(self, claim: HeldClaim) -> Settlement:
        registered = self._registry.find(claim.item.kind)
        if registered is None:
            return rules.released(claim.item, f"worker {self._worker} has no handler for {claim.item.kind}")
        # Here, so that a follow-up that does not fit is the handler's own error, with its sentence.
        return with_follow_ups_stamped(claim.ctx, rules.done(claim.item, await self._handled(claim, registered)))

    async def _handled(self, claim: HeldClaim, registered: RegisteredHandler) -> Any:  # noqa: ANN401 - any JSON value
        payload = registered.payload_of(claim.item)
        limit = self._limits.of(claim.item.kind)
        claim.begin(limit)
        timeout = asyncio.timeout(limit.total_seconds())
        began = perf_counter()
        try:
            with self._tracing.linked_span(f"work {claim.item.kind}", claim.item.traceparent, _attributes(claim)):
                async with timeout:
                    return await registered.call(claim.ctx, claim.item, payload)
        except (TimeoutError, asyncio.CancelledError) as error:
            # A handler that outlasted its timeout was cancelled more than once, and may end by any of the cancels.
            if not timeout.expired():
                raise
            raise HandlerTimedOut(f"the handler took longer than {limit.total_seconds():g} s") from error
        finally:
            self._metrics.handler_seconds(claim.item.kind).observe(perf_counter() - began)

    def _ended(self, claim: HeldClaim, error: BaseException) -> Settlement:
        """Return the end that an error means.

        An interruption of the worker's outranks what the handler made of it, but for a steering answer. Without one a
        `CancelledError` is the handler's own: its failure, like any other. Never raises, whatever the error's own code
        does when it is read.
        """
        try:
            return self._meant_by(claim, error)
        except BaseException:  # noqa: BLE001 - the error's code may raise SystemExit, which would end the process
            return rules.failed(claim.item, NO_END)

    def _meant_by(self, claim: HeldClaim, error: BaseException) -> Settlement:
        why = claim.interruption
        if why is None and isinstance(error, asyncio.CancelledError) and _is_cancelled(claim) and self.is_torn_down():
            why = Interruption.PROCESS_ENDED
        if why is None or isinstance(error, Steering):
            return rules.ended_by(claim.item, error)
        if why is Interruption.CANCEL_REQUESTED:
            return rules.cancelled(claim.item)
        return rules.released(claim.item, f"interrupted: {why} (worker {self._worker})")


def _stands() -> bool:
    return False


def _is_cancelled(claim: HeldClaim) -> bool:
    return claim.task is not None and claim.task.cancelling() > 0


def _attributes(claim: HeldClaim) -> dict[str, str | int]:
    item = claim.item
    return {"headrace.item_id": str(item.id), "headrace.kind": item.kind, "headrace.attempt": item.attempts}


_LEVELS = {Outcome.FAILED: logging.ERROR, Outcome.RETRY: logging.WARNING}


def _tell(claim: HeldClaim, settlement: Settlement) -> None:
    level = _LEVELS.get(settlement.outcome, logging.DEBUG)
    if logger.isEnabledFor(level):
        why = (settlement.last_error or "").partition("\n")[0]
        logger.log(level, "%s attempt %d: %s %s", claim.item.kind, claim.item.attempts, settlement.outcome, why)
