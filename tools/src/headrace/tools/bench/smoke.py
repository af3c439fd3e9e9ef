"""The short look: how quickly an item is picked up, and what an idle worker costs."""

from pathlib import Path

from headrace.tools.bench.ground import open_ground
from headrace.tools.bench.idle import idle
from headrace.tools.bench.pick_up import pick_up
from headrace.tools.bench.queue import open_queue
from headrace.tools.bench.report import Report


async def run_smoke(root: Path, num_items: int, idle_seconds: float) -> Report:
    """Start a server and a worker, measure, and stop both.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or the worker does not work.
    """
    async with open_ground(root) as ground, open_queue(ground) as queue:
        report = Report("one worker process, PostgreSQL with its default durability")
        report.measures += [await pick_up(ground, queue, num_items), *await idle(ground, queue, idle_seconds)]
    return report
