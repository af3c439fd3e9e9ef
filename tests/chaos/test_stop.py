"""What a signal does to a worker that holds items."""

import signal
from http import HTTPStatus

import asyncpg
import pytest

from headrace.infra.background.runtime import ExitCode
from headrace.om.work.types.work_item import WorkStatus
from tests.chaos.site import Site
from tests.fixtures.workers import WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(120)]

DEADLINE_SECONDS = 20.0
"""Drain budget, flush budget and closing of a worker with `BRISK` settings, and some."""

SHORT_STOP = {"drain_budget": "2s", "flush_budget": "1s", "stop_window": "10s"}


async def test_nothing_stays_claimed_when_a_worker_in_release_mode_is_terminated(site: Site) -> None:
    worker = await site.worker(drain_mode="release")
    items = await site.queue.enqueue_many(["hold"] * 5)
    await site.until_held(worker, 5)
    worker.send(signal.SIGTERM)
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.CLEAN
    rows = [await site.queue.item(item) for item in items]
    assert {(row.status, row.attempts, row.crashes, row.claim_token) for row in rows} == {("queued", 0, 0, None)}
    assert all("draining" in str(row.last_error) for row in rows)


async def test_items_end_and_nothing_is_claimed_when_a_worker_in_finish_mode_is_terminated(site: Site) -> None:
    worker = await site.worker(drain_mode="finish")
    await site.queue.enqueue_many(["hold"] * 3)
    await site.until_held(worker, 3)
    worker.send(signal.SIGTERM)
    await _until_stopping(worker)
    late = await site.queue.enqueue_many([""] * 3)
    await _until_polls_would_have_come(worker)
    site.marks.gate.touch()
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.CLEAN
    assert await site.queue.counts() == {WorkStatus.DONE: 3, WorkStatus.QUEUED: 3}
    assert not set(late) & {change.item_id for change in await site.journal.changes()}


async def test_the_rest_is_released_when_items_outlast_the_drain_budget(site: Site) -> None:
    worker = await site.worker(drain_mode="finish", drain_budget="1s")
    item_id = await site.queue.enqueue("hold")
    await site.until_held(worker, 1)
    worker.send(signal.SIGTERM)
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.CLEAN
    item = await site.queue.item(item_id)
    assert (item.status, item.attempts) == ("queued", 0)


async def test_the_process_ends_at_once_and_not_cleanly_when_it_is_terminated_twice(site: Site) -> None:
    worker = await site.worker(drain_mode="finish", drain_budget="100s", stop_window="120s")
    item_id = await site.queue.enqueue("hold")
    await site.until_held(worker, 1)
    worker.send(signal.SIGTERM)
    await _until_stopping(worker)
    worker.send(signal.SIGTERM)
    # Far below the drain budget, which the first signal alone would have used.
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.SECOND_SIGNAL
    assert (await site.queue.item(item_id)).status is WorkStatus.QUEUED


async def test_a_worker_stops_cleanly_when_it_is_terminated_before_it_is_ready(
    site: Site, admin_connection: asyncpg.Connection
) -> None:
    patient = {"lease": "60s", "database_statement_timeout": "29s", "database_lock_timeout": "29s"}
    async with admin_connection.transaction():
        # The start looks at the schema's version, and has to wait for it here.
        await admin_connection.execute("LOCK TABLE queue.alembic_version")
        worker = site.begin(**patient)
        await until(lambda: "starting" in worker.output, "the worker starts", tell=worker)
        worker.send(signal.SIGTERM)
        assert await worker.ended(DEADLINE_SECONDS) == ExitCode.CLEAN
    assert "stopping before it is ready" in worker.output


async def _until_stopping(worker: WorkerProcess) -> None:
    async def is_stopping() -> bool:
        return await worker.status_of("/readyz") == HTTPStatus.SERVICE_UNAVAILABLE

    await until(is_stopping, "the worker is not ready any more", tell=worker)


async def _until_polls_would_have_come(worker: WorkerProcess) -> None:
    """Wait for three turns of the loop's half-second tick: five times the poll interval and some."""
    turned = "headrace_loop_lag_seconds_count"
    before = await worker.metric(turned)

    async def is_later() -> bool:
        return await worker.metric(turned) >= before + 3

    await until(is_later, "the event loop has turned for a while", tell=worker)


async def test_the_process_ends_within_its_stop_window_when_a_handler_heeds_no_cancel(site: Site) -> None:
    worker = await site.worker(**SHORT_STOP)
    item_id = await site.queue.enqueue("ignore")
    await site.until_held(worker, 1)
    worker.send(signal.SIGTERM)
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.SHUTDOWN_TIMEOUT
    assert "heeds no cancel" in worker.output
    # Its code may have gone on to the last moment, so that only the lease gives it back.
    assert (await site.queue.item(item_id)).status is WorkStatus.CLAIMED


async def test_the_process_ends_within_its_stop_window_when_a_thread_does_not_return(site: Site) -> None:
    worker = await site.worker(**SHORT_STOP)
    await site.queue.enqueue("thread 100")
    await site.until_held(worker, 1)
    worker.send(signal.SIGTERM)
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.CLEAN
    assert "threads of it go on" in worker.output


async def test_only_the_item_fails_when_a_task_that_its_handler_began_ends_the_process(site: Site) -> None:
    worker = await site.worker()
    item_id = await site.queue.enqueue("exit-in-task")
    await site.queue.until_done(await _quick_after(site))
    item = await site.queue.item(item_id)
    assert (item.attempts, item.error_code) == (1, "TaskTriedToExit")
    worker.send(signal.SIGTERM)
    assert await worker.ended(DEADLINE_SECONDS) == ExitCode.CLEAN


async def _quick_after(site: Site) -> int:
    await site.queue.enqueue("")
    return 1
