"""What one pass of the sweep costs, step by step."""

import time
from datetime import timedelta
from typing import Final

from prometheus_client import CollectorRegistry

from headrace.tools.bench.database_counters import read_counters
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.queue import Queue, new_request
from headrace.workers.kit.metrics import WorkerMetrics
from headrace.workers.kit.sweep_steps import Retention, standard_steps

RETENTION: Final = Retention(
    settled_items=timedelta(days=7),
    done_outbox_rows=timedelta(days=1),
    webhook_messages=timedelta(days=30),
    deleted_records=timedelta(days=30),
    every=timedelta(0),
    limit=1000,
)
"""The defaults of a worker, each step in each pass."""


async def sweep_costs(queue: Queue, table: str, num_passes: int) -> tuple[Measure, ...]:
    """Run every step of the sweep so many times; return the milliseconds of each, and the pages of a pass.

    Args:
        queue: Where; nothing in it is old enough to be purged.
        table: What its table is called in the report.
        num_passes: How often.
    """
    steps = standard_steps(queue.managers, WorkerMetrics(CollectorRegistry()), RETENTION)
    times: dict[str, list[float]] = {step.name: [] for step in steps}
    for step in steps:  # what making the orgs left in the outbox is relayed first
        await step.run(new_request())
    before = await read_counters(queue.admin)
    for _ in range(num_passes):
        for step in steps:
            began = time.perf_counter()
            await step.run(new_request())
            times[step.name].append((time.perf_counter() - began) * 1000)
    counted = (await read_counters(queue.admin)).since(before)
    passes = tuple(map(sum, zip(*times.values(), strict=True)))
    return (
        *(Measure(f"sweep of {table}: {name}", "ms", tuple(each), is_detail=True) for name, each in times.items()),
        Measure(f"sweep of {table}", "ms", passes),
        Measure(f"sweep of {table}: statements", "", (counted.num_statements / num_passes,)),
        Measure(f"sweep of {table}: pages", "pages", (counted.buffers / num_passes,)),
    )
