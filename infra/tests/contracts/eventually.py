"""Waiting for a state with a bound, instead of sleeping and hoping."""

import asyncio
from collections.abc import Awaitable, Callable

POLL_SECONDS = 0.01


async def eventually(condition: Callable[[], bool | Awaitable[bool]], *, within: float = 15) -> None:
    """Return as soon as the condition holds; fail the test when it never does."""
    try:
        async with asyncio.timeout(within):
            while not await _holds(condition):  # noqa: ASYNC110 - any state can be waited for, not only events
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"the condition did not come to hold within {within} s") from None


async def _holds(condition: Callable[[], bool | Awaitable[bool]]) -> bool:
    answer = condition()
    return answer if isinstance(answer, bool) else await answer
