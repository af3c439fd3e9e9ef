"""Keeping what ends processes inside of handlers: Python hands it from a handler's own tasks to the event loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from headrace.workers.kit.claims import is_under_claim

type TaskFactory = Callable[..., asyncio.Future[Any]]


class TaskTriedToExit(Exception):  # noqa: N818 - the fact that an operator reads as the item's error code
    """A task that a handler began raised SystemExit or KeyboardInterrupt."""


def contain_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """From now on let tasks that handlers begin raise `TaskTriedToExit` where they tried to end the process.

    Tasks of everybody else are made as before.
    """
    inner = loop.get_task_factory()

    def make(
        loop: asyncio.AbstractEventLoop,
        coro: Coroutine[Any, Any, Any],
        **options: Any,  # noqa: ANN401 - asyncio's own
    ) -> asyncio.Future[Any]:
        kept = _contained(coro) if is_under_claim(options.get("context")) else coro
        return asyncio.Task(kept, loop=loop, **options) if inner is None else inner(loop, kept, **options)

    loop.set_task_factory(make)


async def _contained(coro: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the task returns
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        raise TaskTriedToExit(f"a task that the handler began tried to end the process by {error!r}") from error
