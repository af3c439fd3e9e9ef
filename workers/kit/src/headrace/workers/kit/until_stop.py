"""A step that a stop may cut short at any point, since it is safe to do again."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def until_stop(stop: asyncio.Event, step: Coroutine[Any, Any, Any]) -> None:
    """Run the step; cancel it when `stop` is set. Return when it has ended, either way.

    Raises:
        ExceptionGroup: Holds what the step raised.
    """
    async with asyncio.TaskGroup() as group:
        task = group.create_task(step)
        watcher = group.create_task(_cancel_at(stop, task))
        task.add_done_callback(lambda _: watcher.cancel())


async def _cancel_at(stop: asyncio.Event, task: asyncio.Task[Any]) -> None:
    await stop.wait()
    task.cancel()
