"""How the drain's rate goes with the capacity, the processes, the payload and the backlog."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headrace.tools.bench.drain import DrainPlan, drain
from headrace.tools.bench.ground import Ground, open_ground, told_settings
from headrace.tools.bench.machine import machine, versions
from headrace.tools.bench.queue import Queue, open_queue
from headrace.tools.bench.report import Curve, Point, Report

NUM_ORGS: Final = 10
KIB: Final = 1024
MD5_CHARS: Final = 32

type Plans = Mapping[float, DrainPlan]
"""What is drained at each place of a curve."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that the rate is measured along.

    Attributes:
        chart: The chart's name.
        x_name: What is varied.
        plans: The drain at each value.
    """

    chart: str
    x_name: str
    plans: Plans


def filled_with(num_bytes: int) -> dict[str, str]:
    """Return the change that makes each item's payload about so large, of text that does not compress."""
    num_parts = max(1, num_bytes // MD5_CHARS)
    text = f"SELECT string_agg(md5(n::text), '') FROM generate_series(1, {num_parts}) AS n"  # noqa: S608 - a number
    return {"payload": f"jsonb_build_object('note', ({text}))"}


def axes(share: float) -> tuple[Axis, ...]:
    """Return what is varied.

    Args:
        share: Of the full number of items: 1 for a real run, less for the shape of it.
    """

    def items(number: int) -> int:
        return max(400, int(number * share))

    capacities = {1: 1_000, 2: 2_000, 5: 4_000, 10: 6_000, 20: 10_000, 50: 12_000, 100: 12_000, 200: 12_000}
    payloads = {100: 10_000, KIB: 10_000, 10 * KIB: 6_000, 100 * KIB: 2_000}
    backlogs = (1_000, 10_000, 100_000, 1_000_000) if share >= 1 else (1_000, 10_000)
    return (
        Axis("capacity", "capacity", {each: DrainPlan(items(n), capacity=each) for each, n in capacities.items()}),
        Axis(
            "processes",
            "worker processes",
            {each: DrainPlan(items(8_000) * (each + 1), num_processes=each) for each in (1, 2, 3, 4, 6, 8)},
        ),
        Axis(
            "payload",
            "bytes of payload",
            {each: DrainPlan(items(n), changes=filled_with(each)) for each, n in payloads.items()},
        ),
        Axis(
            "backlog",
            "items waiting",
            {each: DrainPlan(min(items(10_000), each * 9 // 10), num_waiting=each) for each in backlogs},
        ),
    )


async def scale(
    root: Path, *, num_runs: int, share: float, names: tuple[str, ...], told: Callable[[str], None]
) -> Report:
    """Measure the rate along every axis; the runs of a curve follow each other as whole rounds.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or a worker does not work.
    """
    async with open_ground(root) as ground, open_queue(ground, num_orgs=NUM_ORGS) as queue:
        circumstances = {"machine": machine(), "versions": versions(root), "postgres": await told_settings(queue.admin)}
        report = Report("how the rate goes", circumstances)
        for axis in axes(share):
            if axis.chart in names:
                report.curves.append(await _curve(ground, queue, axis, num_runs, told))
    return report


async def _curve(ground: Ground, queue: Queue, axis: Axis, num_runs: int, told: Callable[[str], None]) -> Curve:
    points = [Point(x, ()) for x in axis.plans]
    for number in range(num_runs):
        for place, (x, plan) in enumerate(axis.plans.items()):
            told(f"{axis.x_name} {x:g}, run {number + 1} of {num_runs}")
            await queue.empty()
            rate = (await drain(ground, queue, plan)).window.items_per_second
            points[place] = replace(points[place], samples=(*points[place].samples, rate))
    return Curve(axis.chart, "one run each", axis.x_name, "items/s", tuple(points), is_logarithmic=True)
