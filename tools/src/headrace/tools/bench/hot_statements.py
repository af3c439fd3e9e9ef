"""Drains for whoever looks for where the time goes: some runs, and the statements that took it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.tools.bench.database_counters import StatementCost, read_statements
from headrace.tools.bench.drain import DrainPlan, drain
from headrace.tools.bench.ground import open_ground
from headrace.tools.bench.measures import Measure, gathered
from headrace.tools.bench.queue import open_queue
from headrace.tools.bench.report import Report

SQL_WIDTH: Final = 90


@dataclass(frozen=True, slots=True)
class DrainRuns:
    """Which drains, and how many statements of the last one are told."""

    num_items: int
    num_processes: int
    capacity: int
    num_orgs: int
    num_runs: int
    num_statements: int
    environment: Mapping[str, str]

    @property
    def plan(self) -> DrainPlan:
        """Each run's plan."""
        return DrainPlan(
            self.num_items,
            num_processes=self.num_processes,
            capacity=self.capacity,
            environment=self.environment,
        )


async def drain_and_show(root: Path, runs: DrainRuns) -> Report:
    """Drain so many times on a server of the bench's own; the remarks are the statements that took most time.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or a worker does not work.
    """
    async with open_ground(root) as ground, open_queue(ground, num_orgs=runs.num_orgs) as queue:
        found: list[tuple[Measure, ...]] = []
        for _ in range(runs.num_runs):
            await queue.empty()
            found.append((await drain(ground, queue, runs.plan)).measures("drain"))
        costs = await read_statements(queue.admin, runs.num_statements) if runs.num_statements else ()
    remarks = [_told(cost, runs.num_items) for cost in costs]
    return Report("drain", measures=list(gathered(found)), remarks=remarks)


def _told(cost: StatementCost, num_items: int) -> str:
    return (
        f"{cost.total_ms / num_items * 1000:7.1f} us/item {cost.plan_ms / num_items * 1000:6.1f} planning "
        f"{cost.buffers / num_items:7.1f} pages/item {cost.wal_bytes / num_items:7.0f} WAL bytes/item "
        f"{cost.num_calls:6d} calls {cost.num_rows:8d} rows  {cost.sql[:SQL_WIDTH]}"
    )
