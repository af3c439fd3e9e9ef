"""The plans of the hot statements, as the server itself tells them: with the logins, row security and generic plans."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from headrace.om.root import Managers
from headrace.om.storage.roles import LOGIN_NAMES
from headrace.om.work import rules
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.settlement import Renewal
from headrace.om.work.types.work_item import WorkItem
from headrace.tools.bench.claim_cost import make_large
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground, open_ground
from headrace.tools.bench.queue import LANE, Queue, new_request, open_client, open_queue

LEASE: Final = timedelta(minutes=1)
RETENTION: Final = timedelta(days=7)
SIZE: Final = 100
"""Items of one claim, renewal and settlement."""

TELLING: Final = {"log_min_duration": "0", "log_analyze": "on", "log_buffers": "on", "log_timing": "off"}
_PLAN: Final = re.compile(r"duration: [\d.]+ ms  plan:\n(?P<plan>(?:\t.*\n)+)")
_TABLES: Final = ("queue.work_items", "queue.work_bundles")


async def plans(root: Path, *, num_settled: int, num_future: int, num_orgs: int) -> tuple[str, ...]:
    """Return the plan of every statement that enqueueing, claiming, renewing, settling and sweeping send, once each.

    Args:
        root: The working tree.
        num_settled: Settled items that the table holds.
        num_future: Items that are due in a month.
        num_orgs: Whose they are.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or it told no plan.
    """
    async with open_ground(root) as ground, open_queue(ground, num_orgs=num_orgs) as queue:
        await make_large(queue, num_settled, num_future)
        await queue.fill(2 * SIZE)
        await queue.settle_statistics()
        begin = ground.server.log.stat().st_size
        async with _told_plans(queue) as managers:
            await _work_once(queue, managers)
        return _read(ground, begin)


@asynccontextmanager
async def _told_plans(queue: Queue) -> AsyncIterator[Managers]:
    """Give managers whose sessions tell the server's log how each statement was carried out."""
    for login in LOGIN_NAMES.values():
        for name, value in TELLING.items():
            await queue.admin.execute(f"ALTER ROLE {login} SET auto_explain.{name} = '{value}'")
    async with open_client(queue.environment) as (managers, _storage):
        yield managers


async def _work_once(queue: Queue, managers: Managers) -> None:
    work = managers.work
    await work.enqueue(queue.ctx, _item())
    await work.enqueue_many(queue.ctx, [_item() for _ in range(SIZE)])
    claimed = await work.claim_many(new_request(), LANE, [WorkKind.NOOP], "bench", LEASE, SIZE)
    held = [(ctx, item, item.claim_token) for ctx, item in claimed]
    renewals = [(ctx, Renewal(item_id=item.id, claim_token=token)) for ctx, item, token in held if token is not None]
    await work.renew_many(renewals, LEASE)
    await work.settle_many([(ctx, rules.done(item, None)) for ctx, item in claimed])
    await work.get_stale_orgs(new_request(), SIZE)
    for ctx in (await work.maintenance_contexts(new_request()))[:1]:
        await work.requeue_stale(ctx)
        await work.purge_items(ctx, RETENTION)


def _item() -> WorkItem:
    return WorkItem(kind=WorkKind.NOOP, lane=LANE, origin="bench")


def _read(ground: Ground, begin: int) -> tuple[str, ...]:
    told = ground.server.log.read_bytes()[begin:].decode(errors="replace")
    found = [match["plan"].replace("\n\t", "\n").strip() for match in _PLAN.finditer(told)]
    ours = tuple(plan for plan in found if any(table in plan for table in _TABLES))
    if not ours:
        raise BenchError("The server told no plan; auto_explain is missing from this PostgreSQL.")
    return ours
