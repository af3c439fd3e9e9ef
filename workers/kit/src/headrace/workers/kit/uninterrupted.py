"""A step that a cancel must not cut in half: it is finished first, within a limit, and then the cancel goes on."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any


async def uninterrupted[Result](step: Coroutine[Any, Any, Result], limit: timedelta) -> Result:
    """Run the step; when the caller is cancelled meanwhile, wait for the step's end before passing the cancel on.

    The step's task never outlives this call.

    Args:
        step: What must not be cut.
        limit: How long after the cancel the step may still take before it is cancelled too.

    Raises:
        CancelledError: The caller was cancelled; the step has ended, or was cancelled at the limit.
    """
    task = asyncio.create_task(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await _ended(task, limit)
        raise


async def _ended(task: asyncio.Task[Any], limit: timedelta) -> None:
    """Wait for the task's end; cancel it at the limit, or when the caller is cancelled once more."""
    while not task.done():
        try:
            async with asyncio.timeout(limit.total_seconds()):
                await asyncio.wait([task])
        except (asyncio.CancelledError, TimeoutError):
            task.cancel()
    if not task.cancelled():
        task.exception()  # the caller's cancel outranks it; taken so that nobody is warned of it
