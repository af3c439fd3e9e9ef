"""A handler that keeps its worker's event loop from turning."""

import pytest

from tests.chaos.site import Site
from tests.fixtures.workers import until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(120)]

LEASE_SECONDS = 4


async def test_no_second_run_begins_when_a_handler_blocks_the_event_loop_for_two_leases(site: Site) -> None:
    lease = {"lease": f"{LEASE_SECONDS}s", "database_statement_timeout": "1500ms"}
    blocked = await site.worker(**lease)
    item_id = await site.queue.enqueue(f"freeze {LEASE_SECONDS * 2}")
    await site.until_held(blocked, 1)
    rival = await site.worker(**lease)
    await site.queue.until_done(1)
    item = await site.queue.item(item_id)
    assert (item.attempts, item.crashes) == (1, 0)
    assert [run.pid for run in site.ledger.runs_of(item_id)] == [blocked.pid]
    # The rival did look for leases that had passed, and the blocked one says what it was blocked by.
    assert await rival.metric('headrace_sweep_seconds_count{step="requeue_stale"}') > LEASE_SECONDS
    await until(lambda: "kinds at work: NOOP" in blocked.output, "the lag is told", tell=blocked)
