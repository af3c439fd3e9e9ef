"""The claim loop: claims what there is a free slot for, runs it, and hands back what is left when it stops."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final, Literal

from headrace.infra.topics import TopicPayload, Topics, TopicsInterface, WorkAvailable
from headrace.om.context import AppContext, RequestContext
from headrace.om.exceptions import Conflict, PlatformException
from headrace.om.work.manager import WorkHolderInterface
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.backoff import backoff_of_polls
from headrace.workers.kit.contained import contain_tasks
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.held import HeldClaim, Interruption
from headrace.workers.kit.running import ItemRunner
from headrace.workers.kit.uninterrupted import uninterrupted

logger = logging.getLogger(__name__)

MAX_CLAIM: Final = 1000
"""Rows of one claim at most, the queue's own bound."""

STILL_HELD_TIMEOUT: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """What the loop claims, and how it drains.

    Attributes:
        worker: The worker's name; stands on each claimed row for operators.
        app: Stands in each claim's request context.
        lane: Where to look.
        capacity: Items that run at once.
        lease: How long a claim holds without a renewal.
        poll_interval: The queue is looked at this often when nothing wakes the loop.
        drain_mode: On stop, `release` cancels and hands back; `finish` lets items end first.
        drain_budget: How long `finish` lets them.
        claim_limit: How long a claim under way may still take when the process is cut short.
        cut_grace: How long items may still take then, within the stop margin; one that takes longer is abandoned.
    """

    worker: str
    app: AppContext
    lane: str
    capacity: int
    lease: timedelta
    poll_interval: timedelta
    drain_mode: Literal["release", "finish"]
    drain_budget: timedelta
    claim_limit: timedelta = timedelta(seconds=2)
    cut_grace: timedelta = timedelta(seconds=1)


class ClaimLoopTask:
    """Claims and runs items until it is asked to stop, then drains.

    Every item runs as a task of its own, which the book holds. A claimed row that does not get as far as its handler is
    released, whatever happens in between.
    """

    def __init__(
        self,
        plan: ClaimPlan,
        core: LoopCore,
        work: WorkHolderInterface,
        topics: TopicsInterface,
        registry: HandlerRegistry,
        runner: ItemRunner,
    ) -> None:
        self._plan = plan
        self._work = work
        self._topics = topics
        self._registry = registry
        self._runner = runner
        self._held = core.held
        self._state = core.state
        self._clock = core.clock
        self._metrics = core.metrics
        self._wake = asyncio.Event()
        self._may_be_more = False
        self._backoff = backoff_of_polls(plan.poll_interval)

    async def run(self, stop: asyncio.Event) -> None:
        """Claim and run items until `stop` is set; return when no item's task is left.

        A cancel ends the items too. One that heeds no cancel does not hold this up for ever: it goes on by itself.

        Raises:
            PlatformException: The queue refused in a way that no later try changes, such as a missing login; items
                that ran are released.
        """
        self._registry.begin_claiming()
        contain_tasks(asyncio.get_running_loop())
        if (own := asyncio.current_task()) is not None:
            self._runner.is_torn_down = lambda: own.cancelling() > 0
        self._held.on_removed = self._on_room
        unsubscribe = await self._topics.subscribe(Topics.WORK_AVAILABLE, self._on_available)
        try:
            await self._live(stop)
        finally:
            await unsubscribe()

    async def _live(self, stop: asyncio.Event) -> None:
        try:
            await self._claim_until(stop)
            await self._drain()
            await self._held.idle.wait()
        except BaseException:
            await self._cut(self._plan.cut_grace if stop.is_set() else self._plan.drain_budget)
            raise

    async def _cut(self, grace: timedelta) -> None:
        """End every item now; one that does not end within the grace is left to itself, and to its lease."""
        claims = self._held.running()
        for claim in claims:
            if not claim.interrupt(Interruption.PROCESS_ENDED) and claim.task is not None:
                claim.task.cancel()
        if tasks := [claim.task for claim in claims if claim.task is not None]:
            await asyncio.wait(tasks, timeout=grace.total_seconds())
        for claim in self._held.running():
            logger.error("item %s heeds no cancel; it is left to its lease", claim.item.id, extra=claim.identifiers)

    async def _claim_until(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            # Cleared before the claim: what is enqueued from here on is seen by the claim or wakes the wait.
            self._wake.clear()
            limit = self._free_slots()
            try:
                claims = await self._claimed(limit) if limit else []
            except PlatformException as error:
                await self._rest_after(error, stop)
                continue
            self._state.note_poll()
            self._may_be_more = not limit or len(claims) == limit
            self._start(claims, stop)
            if len(claims) < limit or not self._free_slots():
                await self._clock.wait_stopped(stop, self._plan.poll_interval, wake=self._wake)

    def _free_slots(self) -> int:
        """Return how many items may be claimed now: none while paused, or while ends pile up unwritten."""
        if self._state.is_paused or self._held.num_unsettled > self._plan.capacity:
            return 0
        return min(max(self._plan.capacity - self._held.num_running, 0), MAX_CLAIM)

    async def _claimed(self, limit: int) -> list[HeldClaim]:
        return await uninterrupted(self._claim(limit), self._plan.claim_limit)

    async def _claim(self, limit: int) -> list[HeldClaim]:
        plan = self._plan
        sent_at = self._clock.monotonic()
        pairs = await self._work.claim_many(
            RequestContext(app=plan.app), plan.lane, self._registry.kinds, plan.worker, plan.lease, limit
        )
        self._backoff.reset()
        claims = [HeldClaim(ctx, item, sent_at, self._is_still_held) for ctx, item in pairs]
        for claim in claims:
            self._held.add(claim)
        self._measure(claims)
        return claims

    def _measure(self, claims: Sequence[HeldClaim]) -> None:
        """Count what the book holds already: a measurement that fails must not keep items from being run."""
        try:
            for claim in claims:
                self._metrics.note_claimed(claim.item.kind, _waited(claim.item, self._plan.lease))
        except Exception:
            logger.exception("%d claims could not be measured", len(claims))

    async def _rest_after(self, error: PlatformException, stop: asyncio.Event) -> None:
        """Rest, which no wake-up shortens: a flapping database must not make a busy loop."""
        if not error.retryable:
            raise error
        self._metrics.note_error("claim")
        logger.warning("nothing could be claimed: %s", error)
        await self._clock.wait_stopped(stop, self._backoff.next_rest())

    def _start(self, claims: Sequence[HeldClaim], stop: asyncio.Event) -> None:
        for claim in claims:
            if stop.is_set():
                self._runner.release(claim, "claimed while stopping")
                continue
            task = asyncio.create_task(self._runner.run(claim), name=f"item {claim.item.id}")
            self._held.note_started(claim, task)
            task.add_done_callback(partial(self._on_ended, claim))

    def _on_ended(self, claim: HeldClaim, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the run of item %s broke", claim.item.id, exc_info=error, extra=claim.identifiers)
        # A task that is cancelled before its first step runs no line of its coroutine.
        if claim.settlement is None:
            self._runner.give_up(claim)
        self._held.note_ended(claim)
        self._on_room()

    def _on_room(self) -> None:
        """Claim again at once, where the last claim left something behind: a slot is free, or an end was written."""
        if self._may_be_more:
            self._wake.set()

    async def _drain(self) -> None:
        self._state.is_draining = True
        logger.info("draining %d items (%s)", self._held.num_running, self._plan.drain_mode)
        if self._plan.drain_mode == "finish":
            await self._clock.wait_stopped(self._held.idle, self._plan.drain_budget)
        self._interrupt_all(Interruption.DRAINING)

    def _interrupt_all(self, why: Interruption) -> None:
        for claim in self._held.running():
            claim.interrupt(why)

    async def _on_available(self, payload: TopicPayload) -> None:
        if isinstance(payload, WorkAvailable) and payload.lane == self._plan.lane:
            self._wake.set()

    async def _is_still_held(self, claim: HeldClaim) -> bool:
        """Ask the queue by renewing the one lease: the answer and the time to act on it come together."""
        sent_at = self._clock.monotonic()
        try:
            async with asyncio.timeout(STILL_HELD_TIMEOUT.total_seconds()):
                await self._work.extend_lease(claim.ctx, claim.item, self._plan.lease)
        except Conflict:
            claim.is_lost = True
            return False
        except (PlatformException, TimeoutError) as error:
            logger.warning("item %s: whether its claim holds is not known: %s", claim.item.id, error)
            return False
        claim.renewed_sent_at = max(claim.renewed_sent_at, sent_at)
        return True


def _waited(item: WorkItem, lease: timedelta) -> timedelta:
    """Return how long the item had been available when it was claimed, both by the database's clock; never below 0."""
    if item.lease_expires_at is None or item.available_at is None:
        return timedelta(0)
    # In this order, since an instant that an odd clock gave may be too near the calendar's end to move.
    return max(item.lease_expires_at - item.available_at - lease, timedelta(0))
