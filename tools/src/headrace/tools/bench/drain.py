"""Draining: how many items that do nothing a worker works off, and what each of them costs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from headrace.tools.bench.database_counters import Counters, read_counters
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground
from headrace.tools.bench.marks import Window, window
from headrace.tools.bench.measures import OURS, Measure
from headrace.tools.bench.proc import peak_resident_bytes, processor_seconds
from headrace.tools.bench.programs import Program, Running, paused, running, wait_entered, wait_ready, worker_program
from headrace.tools.bench.queue import SETTLED, Queue

WARM_UP_SHARE: Final = 0.1
"""The share of a process's items before the rate is taken."""

MARKS: Final = 100
"""Marks that a run has about."""

DRAIN_SECONDS: Final = 240.0
READY_SECONDS: Final = 120.0
MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class DrainPlan:
    """What is drained, and by whom.

    Attributes:
        num_items: Items that are drained.
        num_waiting: Items that wait when the processes start; None where it is those alone.
        num_processes: Worker processes.
        capacity: Items that each of them runs at once.
        environment: Further settings of the workers.
        changes: Columns that `Queue.fill` sets differently.
    """

    num_items: int
    num_waiting: int | None = None
    num_processes: int = 1
    capacity: int = 100
    environment: Mapping[str, str] | None = None
    changes: Mapping[str, str] | None = None

    @property
    def mark_every(self) -> int:
        """After how many items a process writes a mark."""
        return max(1, self.num_items // self.num_processes // MARKS)

    @property
    def warm_up(self) -> int:
        """Items of each process that are not measured."""
        return int(self.num_items / self.num_processes * WARM_UP_SHARE)


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds and memory at an instant."""

    workers: float
    server: float
    peak_bytes: int = 0


def spent_so_far(ground: Ground, workers: Sequence[Running]) -> Spent:
    """Return what the workers and the server have spent so far."""
    return Spent(
        sum(processor_seconds(each.pid) for each in workers),
        ground.processor_seconds(),
        max(peak_resident_bytes(each.pid) for each in workers),
    )


@dataclass(frozen=True, slots=True)
class DrainRun:
    """One run.

    Attributes:
        window: In which all processes were at work.
        num_items: What was drained altogether.
        worker_seconds: Processor seconds of all workers from their start on; without what starting cost.
        server_seconds: Likewise the server's.
        peak_bytes: Of the largest worker.
        counted: Over the workers' whole life.
    """

    window: Window
    num_items: int
    worker_seconds: float
    server_seconds: float
    peak_bytes: int
    counted: Counters

    def measures(self, name: str, system: str = OURS) -> tuple[Measure, ...]:
        """Return the run's measures under a name of the caller's."""
        each = {
            ("rate", "items/s"): self.window.items_per_second,
            ("worker processor time", "us/item"): self.worker_seconds / self.num_items * 1e6,
            ("PostgreSQL processor time", "us/item"): self.server_seconds / self.num_items * 1e6,
            ("statements", "/item"): self.counted.num_statements / self.num_items,
            ("commits", "/item"): self.counted.num_commits / self.num_items,
            ("WAL", "bytes/item"): self.counted.wal_bytes / self.num_items,
            ("memory of a worker, peak", "MiB"): self.peak_bytes / MIB,
        }
        return tuple(Measure(f"{name}: {what}", unit, (value,), system) for (what, unit), value in each.items())


async def drain(ground: Ground, queue: Queue, plan: DrainPlan) -> DrainRun:
    """Fill the queue and let real worker processes work it off.

    Several processes are all there before the first of them finds an item.

    Raises:
        BenchError: A worker does not work, or items were left.
    """

    async def fill() -> None:
        await queue.fill(plan.num_waiting or plan.num_items, changes=plan.changes)
        await queue.settle_statistics()

    async def finish() -> int:
        if plan.num_waiting is None:
            await queue.wait_settled()
        return await queue.num_settled() - num_settled

    num_settled = await queue.num_settled()
    programs = _programs(queue.environment, plan, ground.folder)
    if plan.num_processes > 1:
        return await measured_drain(ground, queue.admin, programs, plan, finish, fill=fill)
    await fill()
    return await measured_drain(ground, queue.admin, programs, plan, finish)


async def drain_backlog(ground: Ground, queue: Queue, plan: DrainPlan, *, num_kept: int) -> DrainRun:
    """Drain a part of a long backlog while the table keeps many settled items.

    Raises:
        BenchError: A worker does not work.
    """
    await queue.fill(num_kept, changes=SETTLED)
    return await drain(ground, queue, plan)


async def measured_drain(
    ground: Ground,
    admin: asyncpg.Connection,
    programs: Sequence[Program],
    plan: DrainPlan,
    finish: Callable[[], Awaitable[int]],
    *,
    fill: Callable[[], Awaitable[None]] | None = None,
) -> DrainRun:
    """Start programs of any system over items that wait, and measure them until the plan's items were entered.

    Args:
        ground: The server.
        admin: The administrator's connection to the database.
        programs: What works; each writes marks.
        plan: How many items.
        finish: Waits for the end of what is left while the programs still run; returns how many items were done.
        fill: Brings the items once all programs are ready; they are paused meanwhile.

    Raises:
        BenchError: A program does not work, or there was too little to do.
    """
    before = await read_counters(admin)
    async with running(programs, ground.folder) as workers:
        if fill is not None:
            await wait_ready(workers, READY_SECONDS)
            with paused(workers):
                await fill()
                before = await read_counters(admin)
        await wait_entered(workers, 1, DRAIN_SECONDS)
        began, num_early = spent_so_far(ground, workers), sum(each.num_items for each in workers)
        await wait_entered(workers, plan.num_items - len(workers) * plan.mark_every, DRAIN_SECONDS)
        ended, num_late = spent_so_far(ground, workers), sum(each.num_items for each in workers)
        num_items = await finish()
    if num_late <= num_early:
        raise BenchError("Everything was drained within one look at it; give more items.")
    share = num_items / (num_late - num_early)
    return DrainRun(
        window=window([each.marks for each in workers], skipped=plan.warm_up),
        num_items=num_items,
        worker_seconds=(ended.workers - began.workers) * share,
        server_seconds=(ended.server - began.server) * share,
        peak_bytes=ended.peak_bytes,
        counted=(await read_counters(admin)).since(before),
    )


def _programs(environment: Mapping[str, str], plan: DrainPlan, folder: Path) -> tuple[Program, ...]:
    merged = {**environment, **(plan.environment or {})}
    return tuple(
        worker_program(merged, folder, capacity=plan.capacity, mark_every=plan.mark_every, number=number)
        for number in range(plan.num_processes)
    )
