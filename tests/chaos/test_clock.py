"""Workers whose wall clocks are wrong by an hour."""

from datetime import timedelta

import pytest

from headrace.om.work.types.work_item import WorkStatus
from tests.chaos.site import Site
from tests.fixtures.workers import WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(120)]

HOUR = 3600
NUM_SWEEPS = 3


async def test_no_future_item_runs_when_a_workers_clock_is_ahead(site: Site) -> None:
    worker = await site.worker(clock_shift_seconds=HOUR)
    in_half_an_hour = await site.journal.now() + timedelta(minutes=30)
    future = await site.queue.enqueue(available_at=in_half_an_hour)
    present = await site.queue.enqueue()
    await site.queue.until_done(1)
    await _until_swept(worker)
    assert await _shift_of(site, worker) == pytest.approx(HOUR, abs=HOUR / 10)
    item = await site.queue.item(future)
    assert (item.status, item.attempts) == (WorkStatus.QUEUED, 0)
    assert [run.item_id for run in site.ledger.runs()] == [present]


async def test_a_due_item_runs_when_a_workers_clock_is_behind(site: Site) -> None:
    worker = await site.worker(clock_shift_seconds=-HOUR)
    in_a_second = await site.journal.now() + timedelta(seconds=1)
    future = await site.queue.enqueue(available_at=in_a_second)
    await site.queue.until_done(1)
    assert await _shift_of(site, worker) == pytest.approx(-HOUR, abs=HOUR / 10)
    claimed = [change.at for change in await site.journal.changes() if change.after == WorkStatus.CLAIMED]
    assert claimed[0] >= in_a_second
    assert (await site.queue.item(future)).attempts == 1


async def test_a_live_lease_is_kept_when_the_clocks_of_holder_and_sweeper_are_hours_apart(site: Site) -> None:
    ahead = await site.worker(clock_shift_seconds=HOUR, capacity=2)
    await site.queue.enqueue_many(["hold"] * 2)
    await site.until_held(ahead, 2)
    behind = await site.worker(clock_shift_seconds=-HOUR, capacity=2)
    await site.queue.enqueue_many(["hold"] * 2)
    await site.until_held(behind, 2)
    for worker in (ahead, behind):
        await _until_swept(worker)
    site.marks.gate.touch()
    await site.queue.until_done(4)
    await site.assert_each_done_once(4)
    assert {(item.attempts, item.crashes) for item in await site.queue.items()} == {(1, 0)}


async def _until_swept(worker: WorkerProcess) -> None:
    """Wait until the worker has looked for passed leases a few times more."""
    swept = 'headrace_sweep_seconds_count{step="requeue_stale"}'
    before = await worker.metric(swept)

    async def is_swept() -> bool:
        return await worker.metric(swept) >= before + NUM_SWEEPS

    await until(is_swept, "the worker has swept", tell=worker)


async def _shift_of(site: Site, worker: WorkerProcess) -> float:
    """Return how far ahead of the database the worker took its first run's begin to be."""
    first = next(run for run in site.ledger.runs() if run.pid == worker.pid)
    return first.wall_clock - (await site.journal.now()).timestamp()
