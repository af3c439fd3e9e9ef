"""Time for long-lived tasks: waits that end at once on a stop, on a clock that a test can move by hand."""

import asyncio
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import override

# Counts through a suspend, so that a lease which ran out while the machine slept is seen as run out.
_BOOT_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)


class ClockInterface(ABC):
    """Elapsed time and stop-aware waiting; never wall-clock time, which may jump."""

    @abstractmethod
    def monotonic(self) -> float:
        """The clock's reading.

        Returns:
            Seconds since a point that is fixed for all processes of one boot of one host. Never goes back.
        """
        ...

    @abstractmethod
    async def wait_stopped(
        self,
        stop: asyncio.Event,
        timeout: timedelta,  # noqa: ASYNC109 - running out of time is an answer here, not an error
        *,
        wake: asyncio.Event | None = None,
    ) -> bool:
        """Waits until `stop` is set, `wake` is set or `timeout` has passed, whichever comes first.

        Neither event is cleared. A cancel is passed on and leaves nothing behind.

        Args:
            stop: The stop event of the waiting task. When it is set already the call returns without waiting.
            timeout: Zero or negative returns at once, having let other tasks run.
            wake: A second event that ends the wait early.

        Returns:
            True when `stop` is set at the end of the wait, whatever ended it.
        """
        ...

    @abstractmethod
    def elapsed(self, since: float) -> timedelta:
        """Time passed since an earlier reading of `monotonic`; negative for a reading of another boot."""
        ...


class _Elapsing(ClockInterface):
    """What every clock tells from its readings alone."""

    @override
    def elapsed(self, since: float) -> timedelta:
        return timedelta(seconds=self.monotonic() - since)


class SystemClockImpl(_Elapsing):
    """The host's clock.

    On Linux the reading is CLOCK_BOOTTIME, which counts while the machine is suspended. Elsewhere it is
    `time.monotonic`, which on most systems does not; waits use the event loop's own clock everywhere.
    """

    @override
    def monotonic(self) -> float:
        return time.monotonic() if _BOOT_CLOCK is None else time.clock_gettime(_BOOT_CLOCK)

    @override
    async def wait_stopped(
        self,
        stop: asyncio.Event,
        timeout: timedelta,
        *,
        wake: asyncio.Event | None = None,
    ) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(timeout.total_seconds(), 0.0)):
                await _until_any(stop, wake)
        return stop.is_set()


@dataclass(eq=False, slots=True)
class _Wait:
    due: float
    over: asyncio.Event


class ManualClockImpl(_Elapsing):
    """A clock that stands still until a test moves it. For one event loop."""

    def __init__(self, *, start: float = 1_000.0) -> None:
        self._now = start
        self._waits: list[_Wait] = []
        self._changed = asyncio.Event()

    @property
    def num_waiting(self) -> int:
        """How many waits are under way and not yet due."""
        return len(self._waits)

    def advance(self, by: timedelta) -> None:
        """Moves the clock and ends every wait whose time has come; the waiters run when the caller next awaits."""
        self._now += by.total_seconds()
        due = [wait for wait in self._waits if wait.due <= self._now]
        self._waits = [wait for wait in self._waits if wait.due > self._now]
        for wait in due:
            wait.over.set()

    async def until_waiting(self, num: int = 1) -> None:
        """Returns once exactly `num` waits are under way and not yet due; bound it with a timeout of your own."""
        while len(self._waits) != num:
            self._changed.clear()
            await self._changed.wait()

    @override
    def monotonic(self) -> float:
        return self._now

    @override
    async def wait_stopped(
        self,
        stop: asyncio.Event,
        timeout: timedelta,
        *,
        wake: asyncio.Event | None = None,
    ) -> bool:
        wait = _Wait(due=self._now + timeout.total_seconds(), over=asyncio.Event())
        if wait.due > self._now:
            self._waits.append(wait)
            self._changed.set()
        else:
            wait.over.set()
        try:
            await _until_any(stop, wake, wait.over)
        finally:
            self._waits = [each for each in self._waits if each is not wait]
            self._changed.set()
        return stop.is_set()


async def wait_stopped(
    stop: asyncio.Event,
    timeout: timedelta,  # noqa: ASYNC109 - running out of time is an answer here, not an error
    *,
    wake: asyncio.Event | None = None,
) -> bool:
    """`ClockInterface.wait_stopped` on the host's clock, for callers that never need to replace it."""
    return await SystemClockImpl().wait_stopped(stop, timeout, wake=wake)


async def _until_any(*events: asyncio.Event | None) -> None:
    wanted = [event for event in events if event is not None]
    if any(event.is_set() for event in wanted):
        await asyncio.sleep(0)  # a caller that loops on a set event must not starve the others
        return
    if len(wanted) == 1:
        await wanted[0].wait()
        return
    async with asyncio.TaskGroup() as group:
        waiters: list[asyncio.Task[None]] = []
        waiters.extend(group.create_task(_wait_then_cancel(event, waiters)) for event in wanted)


async def _wait_then_cancel(event: asyncio.Event, waiters: list[asyncio.Task[None]]) -> None:
    await event.wait()
    for waiter in waiters:
        waiter.cancel()
