"""Topics that are cut, and what a worker costs that has nothing to do."""

import asyncio
import time

import pytest

from tests.chaos.site import Site
from tests.fixtures.workers import WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(120)]

POLL_SECONDS = 3.0
LONG_POLL_SECONDS = 60.0
MARGIN_SECONDS = 5.0
IDLE_WINDOW_SECONDS = 5.0
MAX_IDLE_SHARE = 0.02


async def test_an_item_is_picked_up_within_the_poll_interval_when_topics_are_cut(site: Site) -> None:
    worker = await site.worker(topics_backend="memory", poll_interval=f"{POLL_SECONDS}s")
    for num in (1, 2):
        item_id, enqueued_at = await site.queue.enqueue(), time.monotonic()
        await _until_run(site, worker, num)
        assert site.ledger.runs_of(item_id)[0].began - enqueued_at < POLL_SECONDS + MARGIN_SECONDS


async def test_an_item_is_picked_up_long_before_the_next_poll_when_topics_work(site: Site) -> None:
    worker = await site.worker(poll_interval=f"{LONG_POLL_SECONDS}s", poll_age_limit="1h")
    item_id, enqueued_at = await site.queue.enqueue(), time.monotonic()
    await _until_run(site, worker, 1)
    assert site.ledger.runs_of(item_id)[0].began - enqueued_at < LONG_POLL_SECONDS / 3


async def test_a_worker_on_an_empty_queue_uses_next_to_no_processor_time(site: Site) -> None:
    # The defaults, which a newcomer gets.
    worker = await site.worker(
        poll_interval="1s", sweep_interval="30s", renewal_interval="2s", heartbeat_interval="10s", heartbeat_ttl="45s"
    )
    await site.queue.enqueue()
    await _until_run(site, worker, 1)
    shares: list[float] = []
    while min(shares, default=1) >= MAX_IDLE_SHARE:
        # Other processes' use of the caches makes the same work dearer; three windows in a row are no chance.
        assert len(shares) < 3, f"shares of a core while idle: {shares}"
        before = worker.processor_seconds()
        await asyncio.sleep(IDLE_WINDOW_SECONDS)
        shares.append((worker.processor_seconds() - before) / IDLE_WINDOW_SECONDS)


async def _until_run(site: Site, worker: WorkerProcess, num: int) -> None:
    await until(lambda: site.ledger.num_finished() >= num, f"{num} items have run", tell=worker)
