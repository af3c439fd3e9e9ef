"""How late the event loop runs: measured, exported, and told with the kinds that may have blocked it."""

import asyncio
import logging
from datetime import timedelta
from typing import Final

from headrace.workers.kit.core import LoopCore

logger = logging.getLogger(__name__)

TICK: Final = timedelta(milliseconds=500)


class LoopLagTask:
    """Sleeps for a tick and looks how much longer it took.

    Args:
        core: Its state learns that the loop turns, its book tells the kinds at work.
        warn_above: A lag above this is told in the log.
    """

    def __init__(self, core: LoopCore, warn_above: timedelta) -> None:
        self._held = core.held
        self._state = core.state
        self._clock = core.clock
        self._metrics = core.metrics
        self._warn_above = warn_above

    async def run(self, stop: asyncio.Event) -> None:
        """Measure until `stop` is set."""
        stopped = stop.is_set()
        while not stopped:
            self._state.loop_turned_at = before = self._clock.monotonic()
            stopped = await self._clock.wait_stopped(stop, TICK)
            if not stopped:
                self._note(self._clock.elapsed(before) - TICK)

    def _note(self, lag: timedelta) -> None:
        self._metrics.note_lag(lag)
        kinds = self._held.take_recent_kinds()
        if lag > self._warn_above:
            logger.warning(
                "the event loop ran %.2f s late (kinds at work: %s): blocking code belongs in run_in_thread",
                lag.total_seconds(),
                ", ".join(kinds) or "none",
            )
