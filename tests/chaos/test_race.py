"""Many items, more than one worker."""

import pytest

from tests.chaos.site import Site

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(150)]

NUM_ITEMS = 2000


async def test_each_item_is_handled_once_when_two_workers_race_for_many(site: Site) -> None:
    workers = [await site.worker(capacity=50, database_pool_size=50) for _ in range(2)]
    await site.queue.enqueue_many([""] * NUM_ITEMS)
    await site.queue.until_done(NUM_ITEMS, within=90)
    await site.assert_each_done_once(NUM_ITEMS)
    runs = site.ledger.runs()
    assert len(runs) == len({run.item_id for run in runs}) == NUM_ITEMS
    assert {run.pid for run in runs} == {worker.pid for worker in workers}
    assert {(item.attempts, item.crashes) for item in await site.queue.items()} == {(1, 0)}
