"""The periodic liveness heartbeat as a task of its own; a progress heartbeat is beaten by the loop that progresses."""

import asyncio
from datetime import timedelta

from headrace.infra.background.signals import HeartbeatInterface
from headrace.infra.background.timing import ClockInterface, SystemClockImpl


class HeartbeatTask:
    """Beats at once and then at every interval, until stopped.

    It shows that the event loop turns and the process is alive, not that work moves.

    Args:
        heartbeat: Where to beat.
        interval: Between two beats; well below the age at which a probe calls a beat stale.
        clock: Replaceable in tests.
    """

    def __init__(self, heartbeat: HeartbeatInterface, interval: timedelta, clock: ClockInterface | None = None) -> None:
        self._heartbeat = heartbeat
        self._interval = interval
        self._clock = clock or SystemClockImpl()

    async def run(self, _context: object, stop: asyncio.Event) -> None:
        """Beats until `stop` is set. A beat that cannot be recorded ends the task, and with it the process."""
        stopped = stop.is_set()
        while not stopped:
            self._heartbeat.beat()
            stopped = await self._clock.wait_stopped(stop, self._interval)
