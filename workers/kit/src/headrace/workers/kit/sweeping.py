"""The sweep: on a jittered timer, a row of small steps that repair and tidy, each of them by itself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from headrace.om.context import AppContext, RequestContext
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.until_stop import until_stop

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SweepStep:
    """One thing that the sweep does.

    Attributes:
        name: In logs and metrics.
        run: Does it and returns how many records it moved; safe at any time, anywhere, twice.
        every: At most this often; zero is every pass.
    """

    name: str
    run: Callable[[RequestContext], Awaitable[int]]
    every: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """When the sweep runs.

    Attributes:
        app: Stands in each pass's request context.
        interval: Between two passes.
        jitter: Share of the interval to spread over, both ways: so that many workers do not sweep at once.
        step_timeout: How long one step may take.
    """

    app: AppContext
    interval: timedelta
    jitter: float
    step_timeout: timedelta


class SweepTask:
    """Runs the steps in their order, pass after pass. A step that fails is logged and holds up no other.

    Args:
        plan: When.
        steps: What.
        core: Its state learns when a whole pass succeeded.
        random: Spreads the passes.
    """

    def __init__(
        self,
        plan: SweepPlan,
        steps: Sequence[SweepStep],
        core: LoopCore,
        random: Random | None = None,
    ) -> None:
        self._plan = plan
        self._steps = tuple(steps)
        self._state = core.state
        self._clock = core.clock
        self._metrics = core.metrics
        self._random = random or Random()  # noqa: S311 - spread, no secret
        self._ran_at: dict[str, float] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until `stop` is set; a stop cuts the step under way, which is safe to repeat."""
        # The first pass comes early: a restarted fleet repairs what its predecessors left.
        wait = self._plan.interval * self._random.uniform(0, self._plan.jitter)
        while not await self._clock.wait_stopped(stop, wait):
            await until_stop(stop, self.sweep(stop))
            wait = self._plan.interval * self._random.uniform(1 - self._plan.jitter, 1 + self._plan.jitter)

    async def sweep(self, stop: asyncio.Event) -> bool:
        """Run each step that is due, once; return whether all of them succeeded."""
        rctx = RequestContext(app=self._plan.app)
        succeeded = True
        for step in self._steps:
            if stop.is_set():
                return False
            if self._is_due(step):
                succeeded = await self._swept(step, rctx) and succeeded
        if succeeded:
            self._state.note_sweep()
        return succeeded

    def _is_due(self, step: SweepStep) -> bool:
        ran_at = self._ran_at.get(step.name)
        return ran_at is None or self._clock.elapsed(ran_at) >= step.every

    async def _swept(self, step: SweepStep, rctx: RequestContext) -> bool:
        started_at = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._plan.step_timeout.total_seconds()):
                num_moved = await step.run(rctx)
        except Exception:  # a step that cannot run now must not keep the others from running
            self._metrics.note_error("sweep")
            logger.exception("sweep step %s failed", step.name)
            return False
        self._ran_at[step.name] = started_at
        self._state.note_sweep_step()
        self._metrics.note_swept(step.name, self._clock.elapsed(started_at), num_moved)
        if num_moved:
            logger.info("sweep step %s moved %d", step.name, num_moved)
        return True
