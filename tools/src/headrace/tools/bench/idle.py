"""An idle worker: what it costs while nobody asks anything of it."""

import asyncio
from typing import Final

from headrace.tools.bench.ground import Ground
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.proc import processor_seconds, resident_bytes
from headrace.tools.bench.programs import Running, running, wait_ready, worker_program
from headrace.tools.bench.queue import Queue

CAPACITY: Final = 10
MIB: Final = 1024 * 1024
SETTLE_SECONDS: Final = 2.0
"""A worker that has just begun still imports and connects."""


async def idle(ground: Ground, queue: Queue, seconds: float) -> tuple[Measure, ...]:
    """Return the share of a core and the memory of a worker of its default settings that has nothing to do.

    Raises:
        BenchError: The worker does not work.
    """
    program = worker_program(queue.environment, ground.folder, capacity=CAPACITY, mark_every=1)
    async with running([program], ground.folder) as (worker,):
        await wait_ready([worker])
        await asyncio.sleep(SETTLE_SECONDS)
        return (
            await idle_share(worker, seconds),
            Measure("idle worker: memory", "MiB", (resident_bytes(worker.pid) / MIB,)),
        )


async def idle_share(worker: Running, seconds: float) -> Measure:
    """Return the share of a core that a worker uses over some seconds, in per cent."""
    before = processor_seconds(worker.pid)
    await asyncio.sleep(seconds)
    worker.check()
    share = (processor_seconds(worker.pid) - before) / seconds * 100
    return Measure("idle worker: share of a core", "%", (share,))
