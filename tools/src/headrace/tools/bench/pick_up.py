"""Pick-up at rest: from an enqueue's return, which is its commit, to the handler's first line."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.tools.bench.ground import Ground
from headrace.tools.bench.measures import OURS, Measure
from headrace.tools.bench.programs import Running, running, wait_entered, wait_ready, worker_program
from headrace.tools.bench.queue import LANE, Queue

NUM_WARM_UP: Final = 20
PICK_UP_SECONDS: Final = 10.0
REST_SECONDS: Final = 0.03
CAPACITY: Final = 10

type Enqueue = Callable[[], Awaitable[int]]
"""Enqueues one item and returns the instant at which it was committed, in nanoseconds since 1970."""


async def pick_up(ground: Ground, queue: Queue, num_items: int) -> Measure:
    """Enqueue items one by one while one of our workers is at rest; return the waits in milliseconds.

    Raises:
        BenchError: The worker does not work.
    """

    async def enqueue() -> int:
        await queue.managers.work.enqueue(queue.ctx, WorkItem(kind=WorkKind.NOOP, lane=LANE, origin="bench"))
        return time.time_ns()

    program = worker_program(queue.environment, ground.folder, capacity=CAPACITY, mark_every=1)
    async with running([program], ground.folder) as (worker,):
        await wait_ready([worker])
        return await waits(worker, enqueue, num_items)


async def waits(worker: Running, enqueue: Enqueue, num_items: int, *, system: str = OURS) -> Measure:
    """Return how long each of some items waited for a worker of any system that marks every item.

    The first items are enqueued and not counted: the worker has its connections and plans by then.
    """
    samples = [await _wait(worker, enqueue, number) for number in range(num_items + NUM_WARM_UP)]
    return Measure("pick-up at rest", "ms", tuple(samples[NUM_WARM_UP:]), system)


async def _wait(worker: Running, enqueue: Enqueue, number: int) -> float:
    # At rest: not in step with whatever the worker does on a timer.
    await asyncio.sleep(REST_SECONDS + number % 7 / 1000)
    num_before = worker.num_items
    committed_ns = await enqueue()
    await wait_entered([worker], num_before + 1, PICK_UP_SECONDS)
    return (worker.marks[-1].at_ns - committed_ns) / 1e6
