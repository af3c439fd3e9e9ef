"""What becomes of items whose worker process dies, freezes, or is killed by them."""

import signal
import time
from uuid import UUID

import pytest

from headrace.om.audit.types.audit_entry import AuditFilter
from headrace.om.work.rules import MAX_CRASHES
from headrace.om.work.types.work_item import WorkStatus
from tests.chaos.site import Site
from tests.chaos.worker import DEATH
from tests.fixtures.workers import WorkerProcess, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(150)]

LEASE_AND_SWEEP_SECONDS = 6 + 1.1
MARGIN_SECONDS = 10
"""For the work itself, on a loaded machine."""


async def test_another_worker_finishes_each_item_once_when_its_holder_is_killed(site: Site) -> None:
    holder = await site.worker(capacity=5)
    items = await site.queue.enqueue_many(["hold"] * 5)
    await site.until_held(holder, 5)
    heir = await site.worker()
    killed_at = await holder.killed()
    site.marks.gate.touch()
    await site.queue.until_done(5)
    took = time.monotonic() - killed_at
    assert took < LEASE_AND_SWEEP_SECONDS + MARGIN_SECONDS
    await site.assert_each_done_once(5, {holder.pid: killed_at})
    assert [[run.pid for run in site.ledger.runs_of(item)] for item in items] == [[holder.pid, heir.pid]] * 5
    # The second claim is an attempt too; the crash is forgiven by the success.
    assert {(item.attempts, item.crashes) for item in await site.queue.items()} == {(2, 0)}


async def test_a_crash_is_counted_when_a_killed_holders_lease_passes(site: Site) -> None:
    holder = await site.worker()
    item_id = await site.queue.enqueue("hold")
    await site.until_held(holder, 1)
    await holder.killed()
    heir = await site.worker()
    await site.until_held(heir, 1)
    item = await site.queue.item(item_id)
    assert (item.status, item.attempts, item.crashes, item.error_code) == ("claimed", 2, 1, "lease_passed")


async def test_the_late_end_of_a_frozen_worker_changes_nothing_when_another_has_the_item(site: Site) -> None:
    frozen = await site.worker()
    item_id = await site.queue.enqueue("hold")
    await site.until_held(frozen, 1)
    frozen.send(signal.SIGSTOP)
    heir = await site.worker()
    await site.until_held(heir, 1)
    token = (await site.queue.item(item_id)).claim_token
    frozen.send(signal.SIGCONT)
    # It finds out by itself that the item is another's, and ends its own run.
    await until(lambda: site.ledger.num_open(frozen.pid) == 0, "the late run has ended", tell=frozen)
    assert (await site.queue.item(item_id)).claim_token == token
    site.marks.gate.touch()
    await site.queue.until_done(1)
    assert [run.how for run in site.ledger.runs_of(item_id)] == ["CancelledError", "finished"]
    assert await site.journal.num_settlements() == {item_id: 1}


async def test_an_item_that_kills_its_workers_becomes_a_dead_letter_and_others_are_done(site: Site) -> None:
    poison = await site.queue.enqueue("die", max_attempts=100, priority=1)
    others = await site.queue.enqueue_many([""] * 5)
    deaths = 0
    while (await site.queue.item(poison)).status is not WorkStatus.FAILED:
        # Leases this short would be lost on a loaded machine; here they are meant to be.
        worker = site.begin(capacity=1, lease="2s", renewal_interval="500ms", database_statement_timeout="900ms")
        deaths += await _until_dead_or_failed(site, worker, poison)
        assert deaths <= MAX_CRASHES
    await site.queue.until_done(len(others))
    item = await site.queue.item(poison)
    assert (deaths, item.crashes, item.error_code) == (MAX_CRASHES, MAX_CRASHES, "lease_passed")
    assert {(await site.queue.item(other)).attempts for other in others} == {1}
    entries = await site.queue.managers.audit.get_entries(site.queue.ctx, AuditFilter(target_id=poison), 10)
    assert [entry.action for entry in entries] == ["work.dead_letter"]
    assert len(site.ledger.runs_of(poison)) == MAX_CRASHES


async def _until_dead_or_failed(site: Site, worker: WorkerProcess, poison: UUID) -> bool:
    """Wait until the worker died of the item or the item was given up; return whether it died."""

    async def is_over() -> bool:
        return worker.exit_code is not None or (await site.queue.item(poison)).status is WorkStatus.FAILED

    await until(is_over, "the worker died, or the item was given up", tell=worker)
    assert worker.exit_code in {None, DEATH}
    return worker.exit_code is not None
