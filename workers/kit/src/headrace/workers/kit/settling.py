"""Writing how items ended: what is ready is written at once and together, and again until it is written."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from headrace.om.context import OpContext
from headrace.om.exceptions import Unavailable
from headrace.om.work import rules
from headrace.om.work.manager import WorkHolderInterface
from headrace.om.work.types.settlement import Settled, Settlement
from headrace.workers.kit.backoff import Backoff
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.held import HeldClaim, HeldClaims

logger = logging.getLogger(__name__)

MAX_BATCH: Final = 500
"""Settlements of one statement at most."""

IDLE_WAIT: Final = timedelta(minutes=1)
FIRST_BACKOFF: Final = timedelta(milliseconds=100)


class SettlementQueue:
    """Settlements that wait to be written, in the order the items ended. For one event loop.

    Args:
        held: The book; a claim that is lost is struck out here, since nothing may be written for it.
    """

    def __init__(self, held: HeldClaims) -> None:
        self.arrived = asyncio.Event()
        """Set while anything waits."""
        self._held = held
        self._waiting: deque[HeldClaim] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, claim: HeldClaim, settlement: Settlement) -> None:
        """Queue how an item ended; a second end of the same claim changes nothing."""
        if claim.settlement is not None:
            return
        claim.settlement = settlement
        if claim.is_lost:
            logger.warning(
                "item %s ended after its lease was lost; nothing is written", claim.item.id, extra=claim.identifiers
            )
            self._held.remove(claim)
            return
        self._waiting.append(claim)
        self.arrived.set()

    def take(self, limit: int) -> list[HeldClaim]:
        """Take up to `limit` claims whose settlements wait, oldest first."""
        taken = [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]
        self._note()
        return taken

    def put_back(self, claims: Sequence[HeldClaim]) -> None:
        """Put claims back to the front, after a write that did not happen."""
        self._waiting.extendleft(reversed(claims))
        self._note()

    def _note(self) -> None:
        if self._waiting:
            self.arrived.set()
        else:
            self.arrived.clear()


@dataclass(frozen=True, slots=True)
class SettlerLimits:
    """How long a write of settlements is tried.

    Attributes:
        longest_backoff: Between two tries while the database is away.
        flush: How long the settler goes on trying after it was asked to stop.
    """

    longest_backoff: timedelta
    flush: timedelta


class Settler:
    """Writes what the queue holds. One `settle_ready` at a time."""

    def __init__(self, work: WorkHolderInterface, queue: SettlementQueue, core: LoopCore) -> None:
        self._work = work
        self._queue = queue
        self._held = core.held
        self._metrics = core.metrics

    async def settle_ready(self) -> bool:
        """Write what is ready, in one statement; return False when the database refused for now.

        Nothing leaves the queue unwritten: after a refusal or a cancel it is back in its place.
        """
        batch = self._queue.take(MAX_BATCH)
        try:
            answers = await self._work.settle_many([_pair(claim) for claim in batch])
        except Unavailable as error:
            self._queue.put_back(batch)
            self._note_refusal(len(batch), error)
            return False
        except Exception:
            # One settlement must not keep its neighbours from being written.
            logger.exception("%d settlements could not be written together; each is written by itself", len(batch))
            return await self._settle_each(batch)
        except BaseException:
            self._queue.put_back(batch)
            raise
        self._note_answers(batch, answers)
        return True

    async def _settle_each(self, batch: list[HeldClaim]) -> bool:
        while batch:
            try:
                await self._settle_alone(batch[0])
            except BaseException as error:
                self._queue.put_back(batch)
                if not isinstance(error, Unavailable):
                    raise
                self._note_refusal(len(batch), error)
                return False
            del batch[0]
        return True

    async def _settle_alone(self, claim: HeldClaim) -> None:
        """Write one settlement; without its result and texts when those are what cannot be written."""
        for bare in (False, True):
            try:
                answers = await self._work.settle_many([_pair(claim, bare=bare)])
            except Unavailable:
                raise
            except Exception:
                how = " even bare" if bare else ""
                logger.exception("settlement of item %s refused%s", claim.item.id, how, extra=claim.identifiers)
                continue
            self._note_answers([claim], answers)
            return
        self._give_up(claim)

    def _note_refusal(self, num_waiting: int, error: Unavailable) -> None:
        self._metrics.note_error("settle")
        logger.warning("%d settlements wait for the database: %s", num_waiting, error)

    def _note_answers(self, batch: Sequence[HeldClaim], answers: Sequence[Settled]) -> None:
        for claim, answer in zip(batch, answers, strict=True):
            self._held.remove(claim)
            if claim.settlement is None:  # pragma: no cover - only what was put can be taken
                continue
            if answer.is_recorded:
                self._metrics.note_settled(claim.item.kind, claim.settlement.outcome)
                continue
            # Our own earlier write, whose answer was lost on its way, would have been recognised as recorded.
            self._metrics.note_conflict(claim.item.kind)
            ending = claim.settlement.outcome
            logger.warning(
                "item %s was not held any more when it ended %s", claim.item.id, ending, extra=claim.identifiers
            )

    def _give_up(self, claim: HeldClaim) -> None:
        self._held.remove(claim)
        self._metrics.note_unwritten(claim.item.kind)
        logger.error(
            "item %s is left to the sweep: its end cannot be written; its lease passes",
            claim.item.id,
            extra=claim.identifiers,
        )

    async def flush(self, limit: timedelta) -> None:
        """Release what was never settled and write what waits, when the process ends; for after every task.

        An item whose task still runs is left alone: its code may still be at work, so its lease must pass.
        What is not written when the database refuses or the limit has passed is named in the log, an item a line.
        """
        for claim in self._held.all():
            if not claim.is_running:
                self._queue.put(claim, rules.released(claim.item, "the process ended before the item was run"))
        try:
            async with asyncio.timeout(limit.total_seconds()):
                while len(self._queue) and await self.settle_ready():
                    pass
        except TimeoutError:
            logger.warning("writing the last settlements took longer than %g s", limit.total_seconds())
        for claim in self._held.all():
            state = "its code still runs" if claim.is_running else "its end could not be written"
            logger.error(
                "item %s is still claimed: %s; it comes back when its lease passes",
                claim.item.id,
                state,
                extra=claim.identifiers,
            )
            self._metrics.note_unwritten(claim.item.kind)


class SettlerTask:
    """Settles whatever is ready for as long as the process lives, and what is left when it stops."""

    def __init__(self, settler: Settler, queue: SettlementQueue, limits: SettlerLimits, core: LoopCore) -> None:
        self._settler = settler
        self._queue = queue
        self._limits = limits
        self._clock = core.clock
        self._backoff = Backoff(FIRST_BACKOFF, limits.longest_backoff)

    async def run(self, stop: asyncio.Event) -> None:
        """Settle until `stop` is set and nothing is left, or the flush limit has passed since."""
        # The wait gives way to the event loop before it returns: items that end now join the statement.
        while not await self._clock.wait_stopped(stop, IDLE_WAIT, wake=self._queue.arrived):
            await self._pass(stop)
        since = self._clock.monotonic()
        while len(self._queue) and self._clock.elapsed(since) < self._limits.flush:
            await self._pass(asyncio.Event())

    async def _pass(self, stop: asyncio.Event) -> None:
        if not len(self._queue) or await self._settler.settle_ready():
            self._backoff.reset()
            return
        await self._clock.wait_stopped(stop, self._backoff.next_rest())


def _pair(claim: HeldClaim, *, bare: bool = False) -> tuple[OpContext, Settlement]:
    settlement = claim.settlement
    if settlement is None:
        raise ValueError(f"item {claim.item.id} has no settlement yet")
    return claim.ctx, settlement.with_changes(last_error=None, result_json=None) if bare else settlement
