"""Items whose code goes on after its timeout: told, counted, and cancelled again and again."""

import asyncio
import logging
from datetime import timedelta

from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.held import HeldClaim

logger = logging.getLogger(__name__)


class OverdueTask:
    """Cancels handlers that swallowed the cancel of their timeout once more, each time the grace has passed.

    A thread cannot be cancelled: its item is told, and `/healthz` answers 503, so that the platform ends the process.

    Args:
        grace: How long a handler may go on after its timeout, and after each further cancel.
        core: Its book tells which items are overdue.
    """

    def __init__(self, grace: timedelta, core: LoopCore) -> None:
        self._grace = grace
        self._held = core.held
        self._clock = core.clock

    async def run(self, stop: asyncio.Event) -> None:
        """Look at every grace until `stop` is set."""
        while not await self._clock.wait_stopped(stop, self._grace):
            for claim in self._held.running():
                if claim.overdue > timedelta(0):
                    _cancel_again(claim)


def _cancel_again(claim: HeldClaim) -> None:
    logger.error(
        "item %s (%s) goes on %.1f s after its timeout; it is cancelled again",
        claim.item.id,
        claim.item.kind,
        claim.overdue.total_seconds(),
        extra=claim.identifiers,
    )
    if claim.task is not None:
        claim.task.cancel()
