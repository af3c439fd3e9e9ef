"""Enqueueing: one by one against a bare INSERT, in bulk against the COPY limit of the same table."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

import asyncpg

from headrace.om.base import new_id
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.tools.bench.ground import administrator
from headrace.tools.bench.measures import Measure
from headrace.tools.bench.queue import Queue

LANE: Final = "enqueued"
"""A lane that no worker serves."""

BULK: Final = 5_000
"""Items of one bulk enqueue."""


async def enqueue_one_by_one(queue: Queue, num_items: int, num_runs: int) -> tuple[Measure, ...]:
    """Alternate an enqueue of each item with the same rows inserted by hand, each in a transaction of its own."""
    runtime = queue.environment["HEADRACE_DATABASE_LISTEN_URL"]
    ours, bare = [], []
    connection = await asyncpg.connect(runtime, command_timeout=60)
    try:
        insert = await _bare_insert(queue, connection)
        for _ in range(num_runs + 1):
            ours.append(await single_rate(queue, num_items))
            bare.append(await _rate(num_items, insert))
    finally:
        await connection.close()
    return (
        Measure("enqueue one by one", "items/s", tuple(ours[1:])),
        Measure("a bare INSERT in its own transaction", "items/s", tuple(bare[1:])),
    )


async def enqueue_in_bulk(queue: Queue, num_items: int, num_runs: int) -> tuple[Measure, ...]:
    """Alternate bulk enqueues with a COPY of as many rows into the same table."""
    ours, copied = [], []
    async with administrator(queue.admin_dsn) as connection:
        for _ in range(num_runs):
            await queue.empty()
            ours.append(await bulk_rate(queue, num_items))
            await queue.empty()
            copied.append(await _copy_rate(queue, connection, num_items))
    return (
        Measure("bulk enqueue", "items/s", tuple(ours)),
        Measure("COPY into the same table", "items/s", tuple(copied)),
    )


def _item() -> WorkItem:
    return WorkItem(kind=WorkKind.NOOP, lane=LANE, origin="bench")


async def _rate(num_items: int, once: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    for _ in range(num_items):
        await once()
    return num_items / (time.perf_counter() - began)


async def single_rate(queue: Queue, num_items: int) -> float:
    """Return the rate of making items and enqueueing each in a transaction of its own."""
    return await _rate(num_items, lambda: queue.managers.work.enqueue(queue.ctx, _item()))


async def bulk_rate(queue: Queue, num_items: int) -> float:
    """Return the rate of making items and enqueueing them, as a caller would."""
    began = time.perf_counter()
    for first in range(0, num_items, BULK):
        await queue.managers.work.enqueue_many(queue.ctx, [_item() for _ in range(min(BULK, num_items - first))])
    return num_items / (time.perf_counter() - began)


async def _copy_rate(queue: Queue, connection: asyncpg.Connection, num_items: int) -> float:
    """Return the rate of a binary COPY of ready rows, in transactions of the same size."""
    names, rows = await queue.rows_to_copy(LANE, num_items)
    began = time.perf_counter()
    for first in range(0, num_items, BULK):
        await connection.copy_records_to_table(
            "work_items", schema_name="queue", columns=names, records=rows[first : first + BULK]
        )
    return num_items / (time.perf_counter() - began)


async def _bare_insert(queue: Queue, connection: asyncpg.Connection) -> Callable[[], Awaitable[object]]:
    """Return what inserts one row as an enqueue writes it, prepared, as the runtime login behind its row security."""
    names, rows = await queue.rows_to_copy(LANE, 1)
    numbered = ", ".join(f"${place}" for place in range(1, len(names) + 1))
    columns = ", ".join(f'"{name}"' for name in names)
    await connection.execute("SELECT set_config('app.org_id', $1, false)", str(queue.ctx.org_id))
    prepared = await connection.prepare(
        f"INSERT INTO queue.work_items ({columns}) VALUES ({numbered})"  # noqa: S608 - names of the catalog
    )
    values, place = list(rows[0]), names.index("id")

    async def insert() -> object:
        values[place] = new_id()
        return await prepared.fetch(*values)

    return insert
