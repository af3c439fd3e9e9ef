"""Bounded waiting for a state, from a coroutine."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

POLL_SECONDS: Final = 0.05


async def until(holds: Callable[[], Awaitable[bool]], seconds: float, *, every: float = POLL_SECONDS) -> bool:
    """Ask until a condition holds or the time is up; return whether it held. Asked at least once."""
    give_up_at = time.monotonic() + seconds
    while not await holds():
        if time.monotonic() >= give_up_at:
            return False
        await asyncio.sleep(every)
    return True
