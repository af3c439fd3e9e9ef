"""A peer for tests: the least that can be called a queue, in one table."""

import asyncio
from contextlib import suppress
from typing import override

import asyncpg

from headrace.tools.bench.peers.protocol import Marks, PeerProgram, main

BATCH = 50
REST_SECONDS = 0.02
"""Between two batches: a drain lasts longer than the bench takes to look at it."""


class PlainQueue(PeerProgram):
    @override
    async def prepare(self) -> None:
        await self.open()
        await self._connection.execute("CREATE TABLE plain_items (id bigserial PRIMARY KEY)")
        await self.close()

    @override
    async def open(self) -> None:
        self._connection = await asyncpg.connect(self.url)

    @override
    async def close(self) -> None:
        await self._connection.close()

    @override
    async def enqueue_bulk(self, num_items: int) -> None:
        await self._connection.execute(f"INSERT INTO plain_items SELECT FROM generate_series(1, {num_items})")

    @override
    async def enqueue(self) -> None:
        await self._connection.execute("INSERT INTO plain_items DEFAULT VALUES")

    @override
    async def work(self, marks: Marks, stop: asyncio.Event) -> None:
        await self.open()
        while not stop.is_set():
            taken = await self._connection.fetch(
                "DELETE FROM plain_items WHERE id IN (SELECT id FROM plain_items LIMIT $1) RETURNING id", BATCH
            )
            for _ in taken:
                marks.note()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), REST_SECONDS)
        await self.close()


if __name__ == "__main__":
    main(PlainQueue)
