"""Wake-ups for a burst of enqueues: the first at once, the rest as few."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from uuid import uuid4

from headrace.infra.topics import Topics, TopicsInterface, WorkAvailable
from headrace.infra.topics.owned_tasks import OwnedTasks

logger = logging.getLogger(__name__)

DEFAULT_WINDOW: Final = timedelta(milliseconds=20)


class WakeWindows:
    """The arithmetic of coalescing: which lane is due at which moment. No clock and no I/O of its own.

    Args:
        window: Seconds from one message of a lane to the next one.
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._waiting: dict[str, int] = {}
        self._open_at: dict[str, float] = {}

    def add(self, lane: str, num_items: int) -> None:
        """Count items that a message has to tell of."""
        self._waiting[lane] = self._waiting.get(lane, 0) + num_items

    def take_due(self, now: float) -> dict[str, int]:
        """Remove and return the counts of the lanes whose last message is a window ago or longer."""
        self._open_at = {lane: open_at for lane, open_at in self._open_at.items() if open_at > now}
        due = {lane: count for lane, count in self._waiting.items() if lane not in self._open_at}
        for lane in due:
            del self._waiting[lane]
            self._open_at[lane] = now + self._window
        return due

    def take_all(self) -> dict[str, int]:
        """Remove and return every count, due or not."""
        waiting, self._waiting = self._waiting, {}
        return waiting

    def next_due_at(self, now: float) -> float | None:
        """Return when ``take_due`` has something next: now or later, or None while nothing waits."""
        return min((self._open_at.get(lane, now) for lane in self._waiting), default=None)


class CoalescedWakeups:
    """Publishes ``WORK_AVAILABLE`` for callers that cannot wait and must not fail.

    Every publish of a database's notification serialises its commits, so a burst of enqueues makes one message at once
    and then at most one a window for each lane, with the summed number of items.

    Args:
        topics: Where the messages go; started and closed by its own owner, and closed after this object.
        window: The shortest time between two messages of a lane.
        clock: Seconds on a clock that never goes back.
    """

    def __init__(
        self,
        topics: TopicsInterface,
        *,
        window: timedelta = DEFAULT_WINDOW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topics = topics
        self._windows = WakeWindows(window.total_seconds())
        self._clock = clock
        self._nudge = asyncio.Event()
        self._tasks = OwnedTasks()
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False

    def wake(self, lane: str, num_items: int) -> None:
        """Ask for a wake-up of a lane; never waits, never raises. Call it from the event loop's thread.

        Before ``start`` the request waits for it; after ``close`` it waits for the next ``start``.

        Args:
            lane: The lane.
            num_items: How many items were enqueued; nothing happens below 1.
        """
        if num_items > 0:
            self._windows.add(lane, num_items)
            self._nudge.set()

    async def start(self) -> None:
        """Begin to publish; does nothing when started already."""
        if self._task is None:
            self._is_closing = False
            await self._tasks.start()
            self._task = self._tasks.spawn(self._run(), name="coalesced wake-ups")

    async def close(self) -> None:
        """Publish what still waits, each message bounded by the topics' own timeout, and stop; may be called twice."""
        task, self._task = self._task, None
        if task is not None:
            self._is_closing = True
            self._nudge.set()
            await asyncio.wait([task])
        await self._tasks.close()

    async def _run(self) -> None:
        while not self._is_closing:
            await self._publish(self._windows.take_due(self._clock()))
            await self._rest()
        await self._publish(self._windows.take_all())

    async def _rest(self) -> None:
        """Wait for a call, or for the end of a window in which a lane waits."""
        now = self._clock()
        due_at = self._windows.next_due_at(now)
        try:
            async with asyncio.timeout(None if due_at is None else due_at - now):
                await self._nudge.wait()
                self._nudge.clear()
        except TimeoutError:
            return

    async def _publish(self, counts: dict[str, int]) -> None:
        for lane, num_items in counts.items():
            try:
                payload = WorkAvailable(idempotency_key=str(uuid4()), lane=lane, num_items=num_items)
                await self._topics.publish(Topics.WORK_AVAILABLE, payload)
            except Exception:  # a lost wake-up costs one poll; a dead publisher would cost all of them
                logger.exception("a wake-up of lane %r was lost", lane)
