"""pgqueuer: asyncpg behind uvloop, batches of 250, settlements buffered in batches of the same size."""

import asyncio
from datetime import timedelta
from typing import Final, override

import asyncpg
from pgqueuer import AsyncpgPoolDriver, Job, Queries, QueueManager

from headrace.tools.bench.peers.protocol import Marks, PeerProgram, main

BATCH: Final = 250
POOL: Final = 8
DEQUEUE_TIMEOUT: Final = timedelta(seconds=1)


class PgQueuerProgram(PeerProgram):
    """One entrypoint that does nothing."""

    @override
    async def prepare(self) -> None:
        await self.open()
        await self._queries.install()
        await self.close()

    @override
    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(self.url, min_size=2, max_size=POOL)
        self._queries = Queries(AsyncpgPoolDriver(self._pool))

    @override
    async def close(self) -> None:
        await self._pool.close()

    @override
    async def enqueue_bulk(self, num_items: int) -> None:
        await self._queries.enqueue(["bench"] * num_items, [None] * num_items, [0] * num_items)

    @override
    async def enqueue(self) -> None:
        await self._queries.enqueue("bench", None)

    @override
    async def work(self, marks: Marks, stop: asyncio.Event) -> None:
        await self.open()
        manager = QueueManager(self._queries)

        async def handle(_job: Job) -> None:
            marks.note()

        manager.entrypoint("bench")(handle)

        async with asyncio.TaskGroup() as group:
            group.create_task(manager.run(dequeue_timeout=DEQUEUE_TIMEOUT, batch_size=BATCH))
            await stop.wait()
            manager.shutdown.set()
        await self.close()


if __name__ == "__main__":
    main(PgQueuerProgram)
