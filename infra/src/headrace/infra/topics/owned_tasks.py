"""A task group for objects that are opened in one place and closed in another."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


class OwnedTasks:
    """Background tasks that live between ``start`` and ``close``; none outlives ``close``.

    A ``TaskGroup`` must be entered and left by one task; here that is a task of its own, which waits for nothing else.
    A task that fails takes the others with it, as in any group; the failure is logged when the group is closed.
    """

    def __init__(self) -> None:
        self._owner: asyncio.Task[None] | None = None
        self._group: asyncio.TaskGroup | None = None

    @property
    def is_open(self) -> bool:
        """Whether tasks may be spawned now."""
        return self._group is not None

    async def start(self) -> None:
        """Open the group; does nothing when it is open."""
        if self._owner is None:
            opened = asyncio.Event()
            self._owner = asyncio.create_task(self._hold(opened), name="owned tasks")
            await opened.wait()

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Run a coroutine in the group.

        Raises:
            RuntimeError: The group is not open; the coroutine was closed unrun.
        """
        if self._group is None:
            work.close()
            raise RuntimeError(f"{name} cannot run: start() was not called, or close() was")
        return self._group.create_task(work, name=name)

    async def close(self) -> None:
        """Cancel every task and wait until all have ended; does nothing when the group is closed."""
        owner, self._owner, self._group = self._owner, None, None
        if owner is None:
            return
        owner.cancel()
        await asyncio.wait([owner])
        if not owner.cancelled() and (error := owner.exception()):
            logger.error("background tasks had failed", exc_info=error)

    async def _hold(self, opened: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as self._group:
            opened.set()
            await asyncio.Event().wait()


def is_being_cancelled() -> bool:
    """Tell whether somebody asked the current task to end, as against a callee that raised a cancel of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
