"""procrastinate: psycopg's pool behind uvloop, twenty items at once, done items deleted as they end."""

import asyncio
from typing import Final, override

from procrastinate import App, PsycopgConnector

from headrace.tools.bench.peers.protocol import Marks, PeerProgram, main

CONCURRENCY: Final = 20


class ProcrastinateProgram(PeerProgram):
    """One task that does nothing."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._app = App(connector=PsycopgConnector(conninfo=url, min_size=2, max_size=CONCURRENCY + 2))
        self._marks: Marks | None = None
        self._task = self._app.task(name="bench")(self._handle)

    async def _handle(self) -> None:
        if self._marks is not None:
            self._marks.note()

    @override
    async def prepare(self) -> None:
        await self.open()
        await self._app.schema_manager.apply_schema_async()
        await self.close()

    @override
    async def open(self) -> None:
        await self._app.open_async()

    @override
    async def close(self) -> None:
        await self._app.close_async()

    @override
    async def enqueue_bulk(self, num_items: int) -> None:
        await self._task.batch_defer_async(*({} for _ in range(num_items)))

    @override
    async def enqueue(self) -> None:
        await self._task.defer_async()

    @override
    async def work(self, marks: Marks, stop: asyncio.Event) -> None:
        self._marks = marks
        await self.open()
        working = asyncio.create_task(
            self._app.run_worker_async(
                concurrency=CONCURRENCY, delete_jobs="always", install_signal_handlers=False, wait=True
            )
        )
        await stop.wait()
        working.cancel()
        await asyncio.wait([working])
        await self.close()


if __name__ == "__main__":
    main(ProcrastinateProgram)
