"""PostgreSQL stopped, or killed, and started again; while items come in, and at rest."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headrace.tools.dev import DevServerError, PostgresServer
from headrace.tools.dev.processes import PidRecord
from tests.chaos.load import under_load
from tests.chaos.site import Site, open_site
from tests.fixtures.database import migrated_database
from tests.fixtures.servers import StartPostgres
from tests.fixtures.workers import StartWorker, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(180)]

GAP_SECONDS = 4.0
LONG_POLL_SECONDS = 60.0
NUM_AROUND_OUTAGE = 30


@pytest.fixture
def postgres(start_postgres: StartPostgres) -> PostgresServer:
    # What was committed must outlive a kill; the rest of the speed-ups only matter when the machine goes down.
    return start_postgres(settings={"synchronous_commit": "on"})


@pytest.fixture
async def postgres_site(postgres: PostgresServer, tmp_path: Path, start_worker: StartWorker) -> AsyncIterator[Site]:
    urls = await asyncio.to_thread(migrated_database, postgres)
    admin_dsn = postgres.dsn(urls.server_url.rpartition("/")[2])
    async with open_site(urls, admin_dsn, tmp_path, start_worker, topics_backend="postgres") as opened:
        yield opened


async def test_every_item_is_done_in_the_end_when_postgres_stops_and_starts_under_load(
    postgres_site: Site, postgres: PostgresServer
) -> None:
    workers = [await postgres_site.worker() for _ in range(2)]
    async with under_load(postgres_site.queue, "sleep 0.02") as load:
        await postgres_site.queue.until_done(NUM_AROUND_OUTAGE)
        await asyncio.to_thread(postgres.stop)
        await asyncio.sleep(GAP_SECONDS)
        await asyncio.to_thread(postgres.start)
        await postgres_site.queue.until_done(load.num_enqueued + NUM_AROUND_OUTAGE)
    await postgres_site.queue.until_done(load.num_enqueued)
    await postgres_site.assert_each_done_once(load.num_enqueued)
    assert [worker.exit_code for worker in workers] == [None, None]


async def test_every_item_is_done_in_the_end_when_postgres_is_killed_under_load(
    postgres_site: Site, postgres: PostgresServer
) -> None:
    workers = [await postgres_site.worker() for _ in range(2)]
    async with under_load(postgres_site.queue, "sleep 0.02") as load:
        await postgres_site.queue.until_done(NUM_AROUND_OUTAGE)
        await _kill_postmaster(postgres)
        await until(lambda: _starts(postgres), "the server starts again")
        await postgres_site.queue.until_done(load.num_enqueued + NUM_AROUND_OUTAGE)
    await postgres_site.queue.until_done(load.num_enqueued)
    await postgres_site.assert_each_done_once(load.num_enqueued)
    assert [worker.exit_code for worker in workers] == [None, None]


async def test_the_first_statement_succeeds_when_postgres_was_restarted_since_the_last(
    postgres_site: Site, postgres: PostgresServer
) -> None:
    # As many connections as statements at once.
    await asyncio.gather(*(postgres_site.queue.counts() for _ in range(5)))
    await asyncio.to_thread(postgres.restart)
    for _ in range(5):
        assert await postgres_site.queue.counts() == {}


async def test_wake_ups_work_again_when_postgres_was_restarted(postgres_site: Site, postgres: PostgresServer) -> None:
    worker = await postgres_site.worker(poll_interval=f"{LONG_POLL_SECONDS}s", poll_age_limit="1h")
    await postgres_site.queue.enqueue()
    await postgres_site.queue.until_done(1)
    await asyncio.to_thread(postgres.stop)
    await asyncio.sleep(GAP_SECONDS)
    restarted_at = time.monotonic()
    await asyncio.to_thread(postgres.start)
    await postgres_site.until_connected(worker, restarted_at)
    # The next poll is far away still: only a wake-up can bring what follows in time.
    remaining = LONG_POLL_SECONDS - await worker.metric('headrace_worker{what="last_poll_age_seconds"}')
    for num in (2, 3):
        await postgres_site.queue.enqueue()
        await postgres_site.queue.until_done(num, within=remaining / 2)
        remaining = LONG_POLL_SECONDS


async def _kill_postmaster(server: PostgresServer) -> None:
    """Kill the server's first process; the others end when they notice."""
    record = PidRecord.load(server.pid_file)
    assert record is not None
    os.kill(record.server.pid, signal.SIGKILL)
    await until(lambda: not server.is_running, "the server is gone")


async def _starts(server: PostgresServer) -> bool:
    """Try to start it; it refuses while processes of the killed one are left."""
    try:
        await asyncio.to_thread(server.start)
    except DevServerError:
        return False
    return True
