"""The worker's sign of life, for operators: a key in the cache, written and read back on every beat."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from headrace.infra.cache import CacheInterface, CacheScope
from headrace.om.base import EMPTY_UUID
from headrace.workers.kit.core import LoopCore

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LivenessPlan:
    """How the worker shows itself.

    Attributes:
        worker: Its name, the key.
        interval: Between two beats.
        ttl: How long a beat is seen.
    """

    worker: str
    interval: timedelta
    ttl: timedelta


class LivenessTask:
    """Beats until it is asked to stop, then takes the key away: the worker is offline.

    Args:
        plan: Name and times.
        cache: Where the key lives; an unreachable one is a failed beat, never an error.
        core: Its state learns how each beat went.
        describe: Returns what the key holds, as JSON values.
    """

    def __init__(
        self,
        plan: LivenessPlan,
        cache: CacheInterface,
        core: LoopCore,
        describe: Callable[[], dict[str, object]],
    ) -> None:
        self._plan = plan
        self._cache = cache
        self._state = core.state
        self._clock = core.clock
        self._describe = describe

    async def run(self, stop: asyncio.Event) -> None:
        """Beat at every interval until `stop` is set, then mark the worker offline."""
        stopped = stop.is_set()
        while not stopped:
            self._note(is_good=await self._beat())
            stopped = await self._clock.wait_stopped(stop, self._plan.interval)
        await self._bounded(self._cache.invalidate(CacheScope.WORKER_LIVENESS, EMPTY_UUID, self._plan.worker))

    async def _beat(self) -> bool:
        """Write the key and read it back: a cache that takes writes and serves none is no sign of life."""
        value = json.dumps(self._describe(), sort_keys=True)
        scope, key = CacheScope.WORKER_LIVENESS, self._plan.worker
        if not await self._bounded(self._cache.put(scope, EMPTY_UUID, key, value, ttl=self._plan.ttl)):
            return False
        return await self._bounded(self._cache.get(scope, EMPTY_UUID, key)) == value

    async def _bounded[Answer](self, call: Coroutine[Any, Any, Answer]) -> Answer | None:
        try:
            async with asyncio.timeout(self._plan.interval.total_seconds()):
                return await call
        except TimeoutError:
            return None

    def _note(self, *, is_good: bool) -> None:
        was_lost = self._state.has_lost_liveness
        self._state.note_beat(is_good=is_good)
        if self._state.has_lost_liveness and not was_lost:
            logger.error("%s", "; ".join(self._state.problems()))
        elif was_lost and is_good:
            logger.info("liveness beats get through again")
