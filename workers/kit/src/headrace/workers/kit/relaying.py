"""Relaying at once what core writes asked for, so that the sweep finds only what a crash left."""

import asyncio
import logging
from datetime import timedelta

from headrace.infra.topics import TopicPayload, Topics, TopicsInterface
from headrace.om.context import AppContext, RequestContext
from headrace.om.outbox import OutboxRelayInterface
from headrace.workers.kit.backoff import backoff_of_polls
from headrace.workers.kit.core import LoopCore, trace_of
from headrace.workers.kit.sweep_steps import relay_all

logger = logging.getLogger(__name__)


class RelayTask:
    """Relays when a commit says that there is something, and every interval besides.

    Args:
        app: Stands in each pass's request context.
        outbox: The relay.
        topics: Where the wake-ups come from.
        interval: The outbox is looked at this often when nothing wakes the relay.
        core: Its clock and metrics.
    """

    def __init__(
        self,
        app: AppContext,
        outbox: OutboxRelayInterface,
        topics: TopicsInterface,
        interval: timedelta,
        core: LoopCore,
    ) -> None:
        self._app = app
        self._outbox = outbox
        self._topics = topics
        self._interval = interval
        self._clock = core.clock
        self._metrics = core.metrics
        self._wake = asyncio.Event()
        self._backoff = backoff_of_polls(interval)

    async def run(self, stop: asyncio.Event) -> None:
        """Relay until `stop` is set; the batch under way is finished first."""
        unsubscribe = await self._topics.subscribe(Topics.OUTBOX_PENDING, self._on_pending)
        try:
            while not stop.is_set():
                self._wake.clear()
                if await self._relayed(stop):
                    await self._clock.wait_stopped(stop, self._interval, wake=self._wake)
                else:
                    # No wake-up shortens it: a flapping database must not make a busy loop.
                    await self._clock.wait_stopped(stop, self._backoff.next_rest())
        finally:
            await unsubscribe()

    async def _relayed(self, stop: asyncio.Event) -> bool:
        try:
            await relay_all(self._outbox, RequestContext(app=self._app), stop)
        except Exception as error:  # whatever one pass met, the next one may go well
            self._metrics.note_error("relay")
            logger.warning("the outbox could not be relayed: %s", error, exc_info=trace_of(error))
            return False
        self._backoff.reset()
        return True

    async def _on_pending(self, _payload: TopicPayload) -> None:
        self._wake.set()
