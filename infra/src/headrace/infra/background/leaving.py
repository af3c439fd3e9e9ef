"""Leaving a process whose outcome is known, though something in it does not end: within a limit, whatever that is."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Collection
from datetime import timedelta
from typing import Final

_logger = logging.getLogger(__name__)

LEAVE_LIMIT: Final = timedelta(milliseconds=400)
"""How long what is left may take to end, once for tasks and once for the event loop's threads."""


async def wind_down(limit: timedelta = LEAVE_LIMIT) -> bool:
    """Cancel every other task of the running loop and end the loop's threads.

    Returns:
        Whether all of it ended; when not, the loop cannot be closed without waiting for what goes on.
    """
    tasks = asyncio.all_tasks() - {task for task in (asyncio.current_task(),) if task}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=limit.total_seconds())
    left = sorted(task.get_name() for task in tasks if not task.done())
    if left:
        _logger.error("left behind, since they heed no cancel: %s", ", ".join(left))
    return await _threads_ended(limit) and not left


async def _threads_ended(limit: timedelta) -> bool:
    # Without the limit of its own that it takes on newer versions: there it ends by a warning, and here it is left.
    ending = asyncio.create_task(asyncio.get_running_loop().shutdown_default_executor(), name="end of threads")
    await asyncio.wait([ending], timeout=limit.total_seconds())
    return ending.done()


def leave_when_held(code: int, known: Collection[threading.Thread]) -> None:
    """End the process with this code now, when a thread would keep it alive; else return.

    To be called once all is written and closed: nothing else of the process runs after it.

    Args:
        code: The exit code.
        known: Threads that are not this process's work, such as those that ran before it began.
    """
    held_by = [
        thread.name
        for thread in threading.enumerate()
        if not thread.daemon and thread is not threading.current_thread() and thread not in known
    ]
    if not held_by:
        return
    sys.stderr.write(f"the process ends though threads of it go on: {', '.join(sorted(held_by))}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
