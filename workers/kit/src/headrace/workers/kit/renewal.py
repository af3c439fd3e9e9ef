"""Keeping the leases: one statement renews them all, and an item whose lease is in doubt is cancelled in time."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol
from uuid import UUID

from headrace.om.work.manager import WorkHolderInterface
from headrace.om.work.types.settlement import Renewal, Renewed
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.held import HeldClaim, Interruption

logger = logging.getLogger(__name__)

WATCH_TICK: Final = timedelta(seconds=1)
"""How often running claims are looked over: a suspend is noticed this soon after it ended."""

RETRY_SHARE: Final = 0.25
"""After a failed renewal the next is tried after this share of the interval."""


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """The times of a lease.

    Attributes:
        lease: How long a claim holds without a renewal.
        interval: Between two renewals, and the longest that one may take.
        blocked_limit: When the event loop has not turned for this long, its leases are let go of.
    """

    lease: timedelta
    interval: timedelta
    blocked_limit: timedelta

    @property
    def doubt(self) -> timedelta:
        """Without a success for this long, items are cancelled: half the lease is left to end them in."""
        return self.lease / 2


class LeaseRenewer:
    """Renews every claim in the book. It may live in an event loop and a thread of its own.

    Args:
        work: Reached over connections of the renewer's own loop.
        core: Its book and clock, and whether the worker's event loop still turns.
        times: The lease.
        notify: Called after every answer, from the renewer's thread.
    """

    def __init__(
        self,
        work: WorkHolderInterface,
        core: LoopCore,
        times: LeaseTimes,
        notify: Callable[[], None],
    ) -> None:
        self._work = work
        self._held = core.held
        self._state = core.state
        self._clock = core.clock
        self._times = times
        self._notify = notify
        self._is_blocked = False

    async def run(self, stop: asyncio.Event) -> None:
        """Renew at every interval, sooner after a failure, until `stop` is set."""
        wait = self._times.interval
        while not await self._clock.wait_stopped(stop, wait):
            succeeded = await self.renew()
            wait = self._times.interval if succeeded else self._times.interval * RETRY_SHARE

    async def renew(self) -> bool:
        """Renew every lease in one statement; return False when that failed and is to be tried again."""
        claims = self._held.renewable()
        if not claims or self._lets_go():
            return True
        sent_at = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._times.interval.total_seconds()):
                renewed = await self._work.renew_many(
                    [(claim.ctx, Renewal(item_id=claim.item.id, claim_token=claim.token)) for claim in claims],
                    self._times.lease,
                )
        except Exception as error:  # noqa: BLE001 - whatever failed, the leases run on and the next try may succeed
            logger.warning("%d leases could not be renewed: %s: %s", len(claims), type(error).__name__, error)
            return False
        self._note(claims, {each.claim_token: each for each in renewed}, sent_at)
        return True

    def _note(self, claims: tuple[HeldClaim, ...], renewed: Mapping[UUID, Renewed], sent_at: float) -> None:
        for claim in claims:
            answer = renewed.get(claim.token)
            if answer is None:
                claim.is_lost = True
                continue
            # The item may have asked for itself meanwhile, and been answered sooner.
            claim.renewed_sent_at = max(claim.renewed_sent_at, sent_at)
            claim.is_cancel_requested = claim.is_cancel_requested or answer.is_cancel_requested
        self._notify()

    def _lets_go(self) -> bool:
        """Whether the event loop has stood still for so long that its items should rather be another's."""
        stood = self._clock.elapsed(self._state.loop_turned_at)
        was_blocked, self._is_blocked = self._is_blocked, stood > self._times.blocked_limit
        if self._is_blocked and not was_blocked:
            kinds = ", ".join(self._held.running_kinds()) or "none"
            logger.error(
                "the event loop has stood still for %.0f s (kinds at work: %s); its leases are renewed no more",
                stood.total_seconds(),
                kinds,
            )
        return self._is_blocked


class RenewalHost(Protocol):
    """Where the renewer lives."""

    async def run(self, stop: asyncio.Event, notify: Callable[[], None]) -> None:
        """Renew until `stop` is set, calling `notify` in the caller's event loop after every answer.

        Raises:
            Exception: The renewer ended by itself; no lease is renewed any more.
        """
        ...


class InlineRenewal:
    """The renewer in the worker's own event loop: for memory storage, which lives in one loop."""

    def __init__(self, work: WorkHolderInterface, core: LoopCore, times: LeaseTimes) -> None:
        self._parts = (work, core, times)

    async def run(self, stop: asyncio.Event, notify: Callable[[], None]) -> None:
        """Renew until `stop` is set; see `RenewalHost`."""
        await LeaseRenewer(*self._parts, notify).run(stop)


class LeaseRenewalTask:
    """Has the leases renewed, and cancels items that lost theirs, may lose it, or were asked to end."""

    def __init__(self, host: RenewalHost, core: LoopCore, times: LeaseTimes) -> None:
        self._host = host
        self._held = core.held
        self._clock = core.clock
        self._metrics = core.metrics
        self._times = times
        self._news = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Renew and watch until `stop` is set."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._host.run(stop, self._news.set), name="renewal")
            await self._watch(stop)

    async def _watch(self, stop: asyncio.Event) -> None:
        while not await self._clock.wait_stopped(stop, self._next_look(), wake=self._news):
            self._news.clear()
            for claim in self._held.running():
                self._look_at(claim)

    def _look_at(self, claim: HeldClaim) -> None:
        if claim.is_lost:
            self._cancel(claim, Interruption.LEASE_LOST)
        elif self._clock.elapsed(claim.renewed_sent_at) >= self._times.doubt:
            self._cancel(claim, Interruption.LEASE_LAPSED)
        elif claim.is_cancel_requested:
            self._cancel(claim, Interruption.CANCEL_REQUESTED)

    def _cancel(self, claim: HeldClaim, why: Interruption) -> None:
        if not claim.interrupt(why) or why is Interruption.CANCEL_REQUESTED:
            return
        item = claim.item
        self._metrics.note_lease_loss(item.kind, why)
        logger.warning("item %s (%s): %s; its task is cancelled", item.id, item.kind, why, extra=claim.identifiers)

    def _next_look(self) -> timedelta:
        """Return how long until the first running claim may be in doubt, at most a tick."""
        untouched = [claim for claim in self._held.running() if claim.interruption is None]
        if not untouched:
            return WATCH_TICK
        oldest = max(self._clock.elapsed(claim.renewed_sent_at) for claim in untouched)
        return min(max(self._times.doubt - oldest, timedelta(0)), WATCH_TICK)
