"""Enqueues without a pause while a test does something to the servers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from tests.chaos.queue import Queue

BATCH: Final = 5
PAUSE_SECONDS: Final = 0.1


@dataclass(slots=True)
class Load:
    """What was enqueued so far; a batch that the database refused is enqueued again under the same ids."""

    num_enqueued: int = 0


@asynccontextmanager
async def under_load(queue: Queue, note: str) -> AsyncIterator[Load]:
    """Enqueue items with the note, batch after batch, until the body is left; the last batch is in by then."""
    load, over = Load(), asyncio.Event()

    async def enqueue() -> None:
        while not over.is_set():
            load.num_enqueued += len(await queue.enqueue_many([note] * BATCH))
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_SECONDS):
                    await over.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(enqueue())
        yield load
        over.set()
