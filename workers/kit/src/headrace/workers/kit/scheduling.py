"""Firing schedules: at each tick, and every interval besides. Every worker does it, and none of them leads."""

import asyncio
import logging
from datetime import timedelta
from typing import Final

from headrace.om.context import AppContext, RequestContext
from headrace.om.work.schedules import WorkScheduleInterface
from headrace.workers.kit.backoff import backoff_of_polls
from headrace.workers.kit.core import LoopCore, trace_of

logger = logging.getLogger(__name__)

BATCH: Final = 200
"""Schedules of one pass; where more are due, the next pass follows at once."""

SHORTEST_REST: Final = timedelta(milliseconds=10)
"""Between two passes, whatever is due: ticks that others fire at this very moment make no busy loop."""


class ScheduleTask:
    """Fires what is due, then rests until the next tick of any schedule.

    A schedule that was set up or changed meanwhile is seen after an interval at the latest.

    Args:
        app: Stands in each pass's request context.
        schedules: What is fired.
        interval: The longest rest.
        core: Its clock and metrics.
    """

    def __init__(self, app: AppContext, schedules: WorkScheduleInterface, interval: timedelta, core: LoopCore) -> None:
        self._app = app
        self._schedules = schedules
        self._interval = interval
        self._clock = core.clock
        self._metrics = core.metrics
        self._backoff = backoff_of_polls(interval)

    async def run(self, stop: asyncio.Event) -> None:
        """Fire until `stop` is set; the pass under way is finished first."""
        while not stop.is_set():
            await self._clock.wait_stopped(stop, await self.fire())

    async def fire(self) -> timedelta:
        """Fire what is due, once; return how long to rest then. Never raises."""
        rctx = RequestContext(app=self._app)
        try:
            num_enqueued = await self._schedules.fire_schedules(rctx, BATCH)
            left = await self._schedules.time_to_next_tick(rctx)
        except Exception as error:  # whatever one pass met, the next one may go well
            self._metrics.note_error("schedules")
            logger.warning("schedules could not be fired: %s", error, exc_info=trace_of(error))
            return self._backoff.next_rest()
        self._backoff.reset()
        if num_enqueued:
            logger.debug("schedules enqueued %d items", num_enqueued)
        return self._interval if left is None else min(max(left, SHORTEST_REST), self._interval)
