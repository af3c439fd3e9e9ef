"""What a claim costs in a large table, against one that holds the due items alone."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from headrace.om.work.types.kinds import WorkKind
from headrace.tools.bench.database_counters import read_counters
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.queue import FUTURE, LANE, SETTLED, Queue

LEASE: Final = timedelta(hours=1)
NUM_WARM_UP: Final = 5
SIZES: Final = (1, 100)
"""Items of one claim: a worker with one free slot, and one with all of them free."""


@dataclass(frozen=True, slots=True)
class ClaimCost:
    """What the claims of one size cost in one table.

    Attributes:
        milliseconds: Of each claim, as the caller sees it.
        buffers: Pages that a claim touched, on average.
    """

    milliseconds: tuple[float, ...]
    buffers: float


async def make_large(queue: Queue, num_settled: int, num_future: int) -> None:
    """Fill the table with items that no claim may take."""
    await queue.fill(num_settled, changes=SETTLED)
    await queue.fill(num_future, changes=FUTURE)


async def claim_costs(large: Queue, empty: Queue, num_claims: int) -> tuple[Measure, ...]:
    """Claim from both tables in turns, the same due items in each; return times and buffers of each size.

    Raises:
        BenchError: A claim took less than it was asked for.
    """
    tables = {"an empty table": empty, "a large table": large}
    measures: list[Measure] = []
    for size in SIZES:
        for queue in tables.values():
            await queue.fill(size * (num_claims + NUM_WARM_UP))
            await queue.settle_statistics()
            await _claims(queue, size, NUM_WARM_UP)
        costs = await _in_turns(tuple(tables.values()), size, num_claims)
        for name, cost in zip(tables, costs, strict=True):
            measures.append(Measure(f"claim of {size} from {name}", "ms", cost.milliseconds))
            measures.append(Measure(f"claim of {size} from {name}: pages", "pages", (cost.buffers,)))
    return tuple(measures)


async def _in_turns(queues: Sequence[Queue], size: int, num_claims: int) -> tuple[ClaimCost, ...]:
    before = [await read_counters(queue.admin) for queue in queues]
    times: list[list[float]] = [[] for _ in queues]
    for _ in range(num_claims):
        for queue, own in zip(queues, times, strict=True):
            own.extend(await _claims(queue, size, 1))
    after = [await read_counters(queue.admin) for queue in queues]
    buffers = [late.since(early).buffers / num_claims for early, late in zip(before, after, strict=True)]
    return tuple(ClaimCost(tuple(own), pages) for own, pages in zip(times, buffers, strict=True))


async def _claims(queue: Queue, size: int, num_claims: int) -> list[float]:
    work, took = queue.storage.get_work_storage(), []
    for _ in range(num_claims):
        began = time.perf_counter()
        rows = await work.claim_batch(LANE, [WorkKind.NOOP], "bench", LEASE, size)
        took.append((time.perf_counter() - began) * 1000)
        if len(rows) != size:
            raise BenchError(f"A claim of {size} took {len(rows)} items.")
    return took
