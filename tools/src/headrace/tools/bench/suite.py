"""Every workload of ours, one after the other, on one server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.tools.bench.bars import bars_of
from headrace.tools.bench.claim_cost import claim_costs, make_large
from headrace.tools.bench.drain import DrainPlan, drain, drain_backlog
from headrace.tools.bench.enqueue import enqueue_in_bulk, enqueue_one_by_one
from headrace.tools.bench.ground import Ground, open_ground, told_settings
from headrace.tools.bench.idle import idle
from headrace.tools.bench.machine import machine, versions
from headrace.tools.bench.measures import Measure, gathered
from headrace.tools.bench.pick_up import pick_up
from headrace.tools.bench.queue import Queue, open_queue
from headrace.tools.bench.report import Report
from headrace.tools.bench.start_up import start_up
from headrace.tools.bench.sweep_cost import sweep_costs


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        num_runs: Runs of each workload that is repeated.
        num_drained: Items of one drain by one process; two get twice as many.
        num_orgs: Orgs whose items are drained.
        num_kept: Settled items that a table with a backlog keeps.
        num_backlog: Items that wait in it.
        num_single: Items of a run that enqueues one by one.
        num_bulk: Items of a run that enqueues in bulk.
        num_picked_up: Items whose pick-up is measured.
        num_settled: Settled items of the large table.
        num_future: Its items of a month from now.
        num_large_orgs: Whose they are.
        num_claims: Claims of each size.
        num_sweeps: Passes of the sweep.
        idle_seconds: How long an idle worker is watched.
        capacity: Items that a worker under load runs at once.
    """

    num_runs: int = 5
    num_drained: int = 10_000
    num_orgs: int = 10
    num_kept: int = 200_000
    num_backlog: int = 100_000
    num_single: int = 300
    num_bulk: int = 20_000
    num_picked_up: int = 300
    num_settled: int = 1_000_000
    num_future: int = 1_000_000
    num_large_orgs: int = 1_000
    num_claims: int = 30
    num_sweeps: int = 3
    idle_seconds: float = 10.0
    capacity: int = 100


FULL: Final = Sizes()
QUICK: Final = Sizes(
    num_runs=2,
    num_drained=4_000,
    num_kept=20_000,
    num_backlog=10_000,
    num_single=100,
    num_bulk=10_000,
    num_picked_up=50,
    num_settled=50_000,
    num_future=50_000,
    num_large_orgs=100,
    num_claims=10,
    num_sweeps=1,
    idle_seconds=3.0,
)

type Workload = Callable[[Ground, Queue, Sizes], Awaitable[tuple[Measure, ...]]]


async def _enqueue(_ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    single = await enqueue_one_by_one(queue, sizes.num_single, sizes.num_runs)
    return single + await enqueue_in_bulk(queue, sizes.num_bulk, sizes.num_runs)


async def _drain(ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    """Drain with one process and with two, in turns."""
    plans = {
        "drain, one process": DrainPlan(sizes.num_drained, capacity=sizes.capacity),
        "drain, two processes": DrainPlan(2 * sizes.num_drained, num_processes=2, capacity=sizes.capacity),
    }
    runs: list[tuple[Measure, ...]] = []
    for _ in range(sizes.num_runs):
        for name, plan in plans.items():
            await queue.empty()
            runs.append((await drain(ground, queue, plan)).measures(name))
    return gathered(runs)


async def _backlog(ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    plan = DrainPlan(sizes.num_drained * 2, num_waiting=sizes.num_backlog, capacity=sizes.capacity)
    await queue.empty()
    run = await drain_backlog(ground, queue, plan, num_kept=sizes.num_kept)
    await queue.empty()
    return run.measures(f"drain, {sizes.num_kept:,} kept and {sizes.num_backlog:,} waiting")


async def _pick_up(ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    await queue.empty()
    return (await pick_up(ground, queue, sizes.num_picked_up),)


async def _idle(ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    return await idle(ground, queue, sizes.idle_seconds)


async def _start_up(ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    return await start_up(ground, queue, sizes.num_runs)


async def _large(ground: Ground, queue: Queue, sizes: Sizes) -> tuple[Measure, ...]:
    """Claim and sweep in a large table and in one with the due items alone; both have the same orgs."""
    del queue
    async with (
        open_queue(ground, num_orgs=sizes.num_large_orgs, name="large") as large,
        open_queue(ground, num_orgs=sizes.num_large_orgs, name="small") as small,
    ):
        await make_large(large, sizes.num_settled, sizes.num_future)
        claims = await claim_costs(large, small, sizes.num_claims)
        swept = await sweep_costs(small, "a small table", sizes.num_sweeps)
        return claims + swept + await sweep_costs(large, "the large table", sizes.num_sweeps)


WORKLOADS: Final[dict[str, Workload]] = {
    "enqueue": _enqueue,
    "drain": _drain,
    "pick-up": _pick_up,
    "backlog": _backlog,
    "idle": _idle,
    "start-up": _start_up,
    "large": _large,
}


async def run_suite(
    root: Path, sizes: Sizes, names: tuple[str, ...] = tuple(WORKLOADS), *, told: Callable[[str], None]
) -> Report:
    """Run workloads on a server of the bench's own; return everything that they found.

    Args:
        root: The working tree.
        sizes: How much of everything.
        names: Which workloads, in this order.
        told: Is told what begins.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or something under test does not work.
    """
    circumstances = {"machine": machine(), "versions": versions(root), "sizes": sizes}
    async with open_ground(root) as ground, open_queue(ground, num_orgs=sizes.num_orgs) as queue:
        report = Report("headrace", circumstances | {"postgres": await told_settings(queue.admin)})
        for name in names:
            told(name)
            report.measures += await WORKLOADS[name](ground, queue, sizes)
    report.bars += bars_of(report.measures)
    return report
