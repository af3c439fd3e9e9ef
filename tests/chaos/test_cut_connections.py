"""Database sessions ended, or kept waiting, by somebody else while workers work."""

import asyncio
import time
from http import HTTPStatus

import asyncpg
import pytest

from tests.chaos.load import under_load
from tests.chaos.site import Site
from tests.fixtures.workers import until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(150)]

NUM_CUTS = 25
PAUSE_SECONDS = 0.2
MAX_SHARE = 0.5
LISTENERS = "application_name = 'headrace topics'"
SESSIONS = "application_name LIKE 'headrace/%'"


async def test_every_item_is_done_once_when_all_sessions_are_cut_again_and_again(
    site: Site, admin_connection: asyncpg.Connection
) -> None:
    workers = [await site.worker() for _ in range(2)]
    async with under_load(site.queue, "sleep 0.02") as load:
        num_cut = sum([await _cut(admin_connection, SESSIONS) for _ in range(NUM_CUTS)])
    await site.queue.until_done(load.num_enqueued)
    await site.assert_each_done_once(load.num_enqueued)
    assert [worker.exit_code for worker in workers] == [None, None]
    assert num_cut > NUM_CUTS


async def test_a_worker_does_not_spin_and_hears_again_when_its_listener_is_cut_again_and_again(
    site: Site, admin_connection: asyncpg.Connection
) -> None:
    worker = await site.worker(poll_interval="60s", poll_age_limit="1h")
    before = worker.processor_seconds()
    num_cut = sum([await _cut(admin_connection, LISTENERS) for _ in range(NUM_CUTS)])
    assert num_cut > 1
    assert worker.processor_seconds() - before < NUM_CUTS * PAUSE_SECONDS * MAX_SHARE
    await site.until_connected(worker, time.monotonic())
    await site.queue.enqueue()
    # The poll alone would bring it in a minute.
    await site.queue.until_done(1, within=30)


async def test_a_worker_recovers_when_somebody_locked_its_table_for_a_while(
    site: Site, admin_connection: asyncpg.Connection
) -> None:
    worker = await site.worker(poll_age_limit="1s")
    async with admin_connection.transaction():
        await admin_connection.execute("LOCK TABLE queue.work_items")
        await until(lambda: "nothing could be claimed" in worker.output, "the claim gave up waiting", tell=worker)

        async def is_unwell() -> bool:
            return await worker.status_of("/healthz") == HTTPStatus.SERVICE_UNAVAILABLE

        await until(is_unwell, "the worker says that it gets nowhere", tell=worker)
    await site.queue.enqueue()
    await site.queue.until_done(1)
    assert await worker.status_of("/healthz") == HTTPStatus.OK
    assert worker.exit_code is None


async def _cut(connection: asyncpg.Connection, which: str) -> int:
    """End the sessions of this database that the condition names, and pause; return how many there were."""
    rows = await connection.fetch(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND {which}"  # noqa: S608 - of this module's own constants
    )
    await asyncio.sleep(PAUSE_SECONDS)
    return len(rows)
