"""The place of one test: a database, its queue and journal, and the workers with their ledger and marks."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from headrace.tools.dev import LoginUrls
from tests.chaos.journal import Journal
from tests.chaos.ledger import Ledger
from tests.chaos.queue import Queue, open_queue
from tests.chaos.worker import Marks, ledger_of
from tests.fixtures.database import settings_for
from tests.fixtures.workers import StartWorker, WorkerProcess, until


@dataclass(frozen=True, slots=True)
class Site:
    """What a test works with.

    Attributes:
        queue: Enqueues and looks.
        journal: What the database saw.
        ledger: What the handlers saw.
        marks: What the workers are told by.
        environment: Leads a process to this place's servers.
    """

    queue: Queue
    journal: Journal
    ledger: Ledger
    marks: Marks
    environment: Mapping[str, str]
    _start: StartWorker

    def begin(self, **settings: object) -> WorkerProcess:
        """Start a worker; return it at once."""
        return self._start(self.environment, settings)

    async def worker(self, **settings: object) -> WorkerProcess:
        """Start a worker; return it once it is ready."""
        return await self.begin(**settings).ready()

    async def probed(self, worker: WorkerProcess | None, *arguments: str, **settings: object) -> tuple[int, str]:
        """Run the healthcheck subcommand with a worker's settings; return its exit code and what it wrote."""
        port = {} if worker is None else {"metrics_port": worker.port}
        probe = self._start(self.environment, {**port, **settings}, subcommand=("healthcheck", *arguments))
        return await probe.ended(), probe.output

    async def until_held(self, worker: WorkerProcess, num: int) -> None:
        """Wait until the worker's handlers are at work on so many items."""
        await until(lambda: self.ledger.num_open(worker.pid) == num, f"{num} items are held", tell=worker)

    async def until_connected(self, worker: WorkerProcess, since: float) -> None:
        """Wait until the listeners of both sides have heard themselves after a reading of the monotonic clock."""

        async def is_connected() -> bool:
            passed, own = time.monotonic() - since, self.queue.infra.topics.last_heard_age()
            workers = await worker.metric('headrace_worker{what="listener_age_seconds"}')
            return own is not None and own.total_seconds() < passed and 0 <= workers < passed

        await until(is_connected, "both listeners hear themselves", tell=worker)

    async def assert_each_done_once(self, num: int, killed: Mapping[int, float] | None = None) -> None:
        """Assert that so many items are done, settled once each, and that no two runs of one overlapped."""
        assert await self.queue.counts() == {"done": num}
        settlements = await self.journal.num_settlements()
        assert (len(settlements), set(settlements.values())) == (num, {1})
        assert self.ledger.overlapping(killed) == ()


@asynccontextmanager
async def open_site(
    urls: LoginUrls, admin_dsn: str, folder: Path, start: StartWorker, **settings: object
) -> AsyncIterator[Site]:
    """Give a place over a migrated database.

    Args:
        urls: The logins to it.
        admin_dsn: The superuser's way to it.
        folder: An empty folder of the test's.
        start: Starts workers.
        settings: Which topics, cache and Redis the workers and the queue use.
    """
    journal = Journal(admin_dsn)
    await journal.install()
    variables = {f"HEADRACE_{name.upper()}": str(value) for name, value in settings.items()}
    environment = urls.environment() | variables | {"HEADRACE_CHAOS_FOLDER": str(folder)}
    async with open_queue(settings_for(urls, **settings)) as queue:
        yield Site(queue, journal, ledger_of(folder), Marks(folder), environment, start)
