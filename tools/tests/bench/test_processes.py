"""Whole programs under test: ours and a peer's."""

import sys
from pathlib import Path

import pytest

from headrace.tools.bench.drain import DrainPlan, drain, drain_backlog
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import open_ground
from headrace.tools.bench.peers.systems import Peer, PeerKind
from headrace.tools.bench.peers.workloads import open_peer
from headrace.tools.bench.programs import Program, running, wait_entered, wait_ready
from headrace.tools.bench.queue import open_queue

NUM_ITEMS = 12_000
"""So many that neither of two workers has done all of them before the other one has looked."""

PLAIN = PeerKind("plain-queue", (), "plain_queue", 400, "SELECT count(*) FROM plain_items", {})

pytestmark = pytest.mark.processes


@pytest.mark.timeout(120)
async def test_real_workers_drain_what_waits(pytestconfig: pytest.Config) -> None:
    async with open_ground(pytestconfig.rootpath) as ground, open_queue(ground, num_orgs=2) as queue:
        run = await drain(ground, queue, DrainPlan(NUM_ITEMS, num_processes=2, capacity=20))
        each = {measure.name: measure.median for measure in run.measures("drain")}
        assert (run.num_items, await queue.num_settled()) == (NUM_ITEMS, NUM_ITEMS)
        assert each["drain: rate"] > 0
        assert 0 < each["drain: commits"] < 2


@pytest.mark.timeout(120)
async def test_a_part_of_a_backlog_is_drained_beside_settled_items(pytestconfig: pytest.Config) -> None:
    async with open_ground(pytestconfig.rootpath) as ground, open_queue(ground) as queue:
        run = await drain_backlog(ground, queue, DrainPlan(300, num_waiting=3_000, capacity=20), num_kept=10)
        assert 0 < run.num_items <= 3_000
        assert await queue.num_settled() >= run.num_items + 10


@pytest.mark.timeout(120)
async def test_a_peer_is_measured_as_ours_is(pytestconfig: pytest.Config) -> None:
    peer = Peer(PLAIN, (sys.executable, str(Path(__file__).with_name("plain_queue.py"))), {}, {})
    async with open_ground(pytestconfig.rootpath) as ground, open_peer(ground, peer) as queue:
        assert (await queue.bulk_rate(100)).median > 0
        assert (await queue.single_rate(10)).median > 0
        run = await queue.drain(ground)
        assert run.num_items == 400
        assert run.counted.num_statements > 0
        assert len((await queue.pick_up(5)).samples) == 5


async def test_a_program_that_ends_is_told_of_with_the_end_of_its_log(tmp_path: Path) -> None:
    program = Program("broken", (sys.executable, "-c", "import sys; sys.exit('no such setting')"), {})
    with pytest.raises(BenchError, match="broken ended by itself: no such setting"):
        async with running([program], tmp_path) as programs:
            await wait_entered(programs, 1, 30)


async def test_a_program_without_a_ready_file_is_not_waited_for(tmp_path: Path) -> None:
    program = Program("sleeper", (sys.executable, "-c", "input()"), {})
    with pytest.raises(BenchError, match="no file that says when it is ready"):
        async with running([program], tmp_path) as programs:
            await wait_ready(programs)
