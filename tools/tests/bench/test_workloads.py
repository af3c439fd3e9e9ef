"""Every workload once, at sizes that say nothing of speed, on one server."""

import pytest

from headrace.tools.bench.claim_cost import claim_costs, make_large
from headrace.tools.bench.enqueue import enqueue_in_bulk, enqueue_one_by_one
from headrace.tools.bench.explain import plans
from headrace.tools.bench.ground import Ground, open_ground, told_settings
from headrace.tools.bench.queue import FUTURE, LANE, SETTLED, Queue, open_queue
from headrace.tools.bench.start_up import import_times
from headrace.tools.bench.sweep_cost import sweep_costs


async def _statuses(queue: Queue) -> dict[str, int]:
    rows = await queue.admin.fetch(
        "SELECT status, count(*) AS num FROM queue.work_items WHERE lane = $1 GROUP BY status", LANE
    )
    return {row["status"]: row["num"] for row in rows}


async def _filled(ground: Ground) -> None:
    async with open_queue(ground, num_orgs=3) as queue:
        assert (await told_settings(queue.admin))["fsync"] == "on"
        await queue.fill(10)
        await queue.fill(5, changes=SETTLED)
        await queue.fill(2, changes=FUTURE)
        assert await _statuses(queue) == {"queued": 12, "done": 5}
        assert (await queue.num_unsettled(), await queue.num_settled()) == (12, 5)
        await queue.empty()
        assert await _statuses(queue) == {}


async def _enqueued(ground: Ground) -> None:
    async with open_queue(ground, name="enqueued") as queue:
        single = await enqueue_one_by_one(queue, 3, 2)
        bulk = await enqueue_in_bulk(queue, 20, 2)
        assert [len(each.samples) for each in single + bulk] == [2, 2, 2, 2]


async def _claimed(ground: Ground) -> None:
    async with (
        open_queue(ground, num_orgs=2, name="large") as large,
        open_queue(ground, num_orgs=2, name="small") as small,
    ):
        await make_large(large, 50, 50)
        costs = {each.name: each for each in await claim_costs(large, small, 2)}
        assert len(costs["claim of 100 from a large table"].samples) == 2
        assert costs["claim of 1 from an empty table: pages"].median > 0
        swept = {each.name: each for each in await sweep_costs(large, "the large table", 1)}
        assert swept["sweep of the large table"].median > 0


@pytest.mark.servers
@pytest.mark.timeout(120)
async def test_tables_are_filled_claimed_from_and_swept(pytestconfig: pytest.Config) -> None:
    async with open_ground(pytestconfig.rootpath) as ground:
        await _filled(ground)
        await _enqueued(ground)
        await _claimed(ground)


@pytest.mark.servers
async def test_the_plan_of_every_hot_statement_is_told(pytestconfig: pytest.Config) -> None:
    found = await plans(pytestconfig.rootpath, num_settled=20, num_future=20, num_orgs=1)
    text = "\n".join(found)
    assert all(part in text for part in ("INSERT INTO queue.work_items", "WITH RECURSIVE gate", "Buffers: shared"))


@pytest.mark.processes
async def test_the_modules_that_take_longest_to_import_are_told() -> None:
    modules = await import_times(5)
    assert len(modules) == 5
    assert [took for _, took in modules] == sorted((took for _, took in modules), reverse=True)
