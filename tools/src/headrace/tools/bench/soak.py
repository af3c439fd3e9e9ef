"""A soak: items come at a share of the drain's rate for a long time, and what should stay flat is sampled."""

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.tools.bench.database_counters import read_counters
from headrace.tools.bench.drain import DrainPlan, drain
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground, open_ground, told_settings
from headrace.tools.bench.machine import machine, versions
from headrace.tools.bench.marks import Mark
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.proc import resident_bytes
from headrace.tools.bench.programs import Running, running, wait_ready, worker_program
from headrace.tools.bench.queue import LANE, Queue, open_queue
from headrace.tools.bench.report import Bar, Curve, Point, Report

SHARE: Final = 0.7
"""Of the drain's rate."""

NUM_ORGS: Final = 10
CAPACITY: Final = 100
NUM_PROBED: Final = 12_000
NUM_PROBES: Final = 3
MARK_EVERY: Final = 100
TICK_SECONDS: Final = 0.05
MIB: Final = 1024 * 1024

RETENTION: Final = {
    "HEADRACE_RETAIN_SETTLED_ITEMS": "60s",
    "HEADRACE_PURGE_INTERVAL": "5s",
    "HEADRACE_SWEEP_INTERVAL": "5s",
    "HEADRACE_BENCH_TELLS_LATENCY": "true",
}
"""Settled items go after a minute, so that a soak of minutes shows what weeks do; else the defaults."""

FLAT: Final = 1.25
"""What the last third of a soak may be of its middle third."""

_SIZES: Final = """
    SELECT sum(pg_table_size(oid)) AS table_bytes, sum(pg_indexes_size(oid)) AS index_bytes,
        (SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'queue') AS num_dead,
        (SELECT count(*) FROM queue.work_items WHERE status = 'queued' AND lane = $1) AS num_waiting
    FROM pg_class WHERE relnamespace = 'queue'::regnamespace AND relkind = 'r'
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at one time of a soak.

    Attributes:
        seconds: Since the beginning.
        rate: Items a second that were entered since the last sample.
        median_ms: From an item's enqueue to its handler, of the items since the last sample.
        p99_ms: Likewise; the median of the p99 of every hundred items.
        table_mib: Of all tables of the queue.
        index_mib: Of all their indexes.
        num_dead: Dead rows that PostgreSQL knows of.
        num_waiting: Items that wait for a worker.
        wal_bytes: An item, since the last sample.
        worker_mib: What the worker has in memory.
    """

    seconds: float
    rate: float
    median_ms: float
    p99_ms: float
    table_mib: float
    index_mib: float
    num_dead: float
    num_waiting: float
    wal_bytes: float
    worker_mib: float


CHARTS: Final = (
    ("soak-latency", "ms from enqueue to handler", (("median", "median_ms"), ("p99", "p99_ms"))),
    ("soak-rate", "items/s", (("rate", "rate"),)),
    ("soak-size", "MiB", (("tables", "table_mib"), ("indexes", "index_mib"))),
    ("soak-rows", "rows", (("dead", "num_dead"), ("waiting", "num_waiting"))),
    ("soak-wal", "bytes of WAL per item", (("WAL", "wal_bytes"),)),
    ("soak-memory", "MiB of a worker", (("resident", "worker_mib"),)),
)
FLAT_ONES: Final = ("p99_ms", "table_mib", "index_mib", "num_dead", "wal_bytes", "worker_mib")


async def soak(root: Path, seconds: float, *, every: float, told: Callable[[str], None]) -> Report:
    """Measure the drain's rate, then let items come at a share of it for so long.

    Args:
        root: The working tree.
        seconds: How long.
        every: Between two samples, in seconds.
        told: Is told what begins.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or the worker does not work.
    """
    async with open_ground(root) as ground, open_queue(ground, num_orgs=NUM_ORGS) as queue:
        circumstances = {"machine": machine(), "versions": versions(root), "postgres": await told_settings(queue.admin)}
        report = Report("soak", circumstances | {"settings": RETENTION})
        told("measuring the drain's rate")
        rate = await _probe(ground, queue)
        report.measures.append(Measure("drain: rate, before the soak", "items/s", (rate,)))
        report.measures.append(Measure("soak: items asked for", "items/s", (rate * SHARE,)))
        told(f"{seconds:g} s at {rate * SHARE:.0f} items/s")
        samples = await _soaked(ground, queue, rate * SHARE, seconds, every)
    report.curves += curves_of(samples)
    report.bars += flat_bars(samples)
    return report


async def _probe(ground: Ground, queue: Queue) -> float:
    rates: list[float] = []
    for _ in range(NUM_PROBES):
        await queue.empty()
        rates.append((await drain(ground, queue, DrainPlan(NUM_PROBED, capacity=CAPACITY))).window.items_per_second)
    await queue.empty()
    return statistics.median(rates)


async def _soaked(ground: Ground, queue: Queue, rate: float, seconds: float, every: float) -> list[Sample]:
    environment = {**queue.environment, **RETENTION}
    program = worker_program(environment, ground.folder, capacity=CAPACITY, mark_every=MARK_EVERY)
    async with running([program], ground.folder) as (worker,):
        await wait_ready([worker])
        enqueuing = asyncio.create_task(_enqueue(queue, rate, seconds))
        try:
            return await _sampled(queue, worker, enqueuing, every)
        finally:
            enqueuing.cancel()
            await asyncio.wait([enqueuing])


async def _enqueue(queue: Queue, rate: float, seconds: float) -> None:
    """Enqueue at a rate, in small batches, the orgs taking turns; what a late batch missed comes with the next one."""
    began, num_items, num_batches = time.monotonic(), 0, 0
    while (elapsed := time.monotonic() - began) < seconds:
        if (num_due := int(elapsed * rate) - num_items) > 0:
            items = [WorkItem(kind=WorkKind.NOOP, lane=LANE, origin="bench") for _ in range(min(num_due, 5_000))]
            await queue.managers.work.enqueue_many(queue.contexts[num_batches % len(queue.contexts)], items)
            num_items += len(items)
            num_batches += 1
        await asyncio.sleep(TICK_SECONDS)


async def _sampled(queue: Queue, worker: Running, enqueuing: asyncio.Task[None], every: float) -> list[Sample]:
    samples: list[Sample] = []
    began, seen, at, counters = time.monotonic(), 0, time.monotonic(), await read_counters(queue.admin)
    while not enqueuing.done():
        await asyncio.wait([enqueuing], timeout=every)
        worker.check()
        now, later = time.monotonic(), await read_counters(queue.admin)
        if fresh := worker.marks[seen:]:
            sizes = dict(await queue.admin.fetchrow(_SIZES, LANE))
            wal_bytes = later.since(counters).wal_bytes
            samples.append(_sample(now - began, now - at, fresh, sizes, wal_bytes, resident_bytes(worker.pid)))
            seen, at, counters = seen + len(fresh), now, later
    enqueuing.result()
    if not samples:
        raise BenchError("The soak was too short for a sample.")
    return samples


def _sample(
    seconds: float, span: float, marks: Sequence[Mark], sizes: dict[str, int], wal_bytes: int, worker_bytes: int
) -> Sample:
    num_items = len(marks) * MARK_EVERY
    return Sample(
        seconds=seconds,
        rate=num_items / span,
        median_ms=statistics.median(mark.median_us for mark in marks) / 1000,
        p99_ms=statistics.median(mark.p99_us for mark in marks) / 1000,
        table_mib=int(sizes["table_bytes"]) / MIB,
        index_mib=int(sizes["index_bytes"]) / MIB,
        num_dead=int(sizes["num_dead"] or 0),
        num_waiting=int(sizes["num_waiting"]),
        wal_bytes=wal_bytes / num_items,
        worker_mib=worker_bytes / MIB,
    )


def curves_of(samples: Sequence[Sample]) -> list[Curve]:
    """Return every chart's curves over the soak's seconds."""
    return [
        Curve(chart, label, "seconds", unit, tuple(Point(each.seconds, (getattr(each, name),)) for each in samples))
        for chart, unit, lines in CHARTS
        for label, name in lines
    ]


def flat_bars(samples: Sequence[Sample]) -> list[Bar]:
    """Return how the last third of the soak compares with its middle third; the first one fills the table."""
    third = len(samples) // 3
    if not third:
        return []
    middle, last = samples[third : 2 * third], samples[-third:]
    return [_flat(name, middle, last) for name in FLAT_ONES]


def _flat(name: str, middle: Sequence[Sample], last: Sequence[Sample]) -> Bar:
    before, after = (statistics.median(getattr(each, name) for each in part) for part in (middle, last))
    ratio = after / before if before else 1.0
    return Bar(f"soak: {name}, last third by middle third", ratio, "x", f"<= {FLAT:g} x", ratio <= FLAT)
