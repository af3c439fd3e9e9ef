"""The queue's part of the maintenance sweep."""

from collections import Counter
from datetime import timedelta
from typing import Final, override
from uuid import UUID

from headrace.om.context import OpContext, Permission, RequestContext
from headrace.om.exceptions import Unavailable
from headrace.om.paging import MAX_PAGE
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.manager import WorkSweepInterface
from headrace.om.work.types.queries import WorkGauges
from headrace.om.work.types.work_item import WorkStatus

MAX_ORG_PAGES: Final = 10_000
"""Where `get_orphaned_orgs` gives up: ten million orgs."""

NOT_OVERDUE: Final = timedelta(0)
"""A lease that has passed on the database's clock has passed: no grace on top."""


class WorkSweepImpl(WorkPart, WorkSweepInterface):
    """The queue for the maintenance sweep."""

    @override
    async def maintenance_contexts(self, rctx: RequestContext) -> tuple[OpContext, ...]:
        return await self._tenancy.service_contexts(rctx)

    @override
    async def get_stale_orgs(self, rctx: RequestContext, limit: int) -> frozenset[UUID]:
        return frozenset(await self._storage.read_stale_orgs(limit))

    @override
    async def requeue_stale(self, ctx: OpContext) -> int:
        ctx.require(Permission.WORK_SWEEP)
        moved = await self._storage.requeue_stale(
            ctx.org_id, NOT_OVERDUE, self._sweep_limit, max_crashes=self._max_crashes
        )
        for item in moved:
            if item.status is WorkStatus.FAILED:
                await self._name_dead_letter(ctx, item.id, item.kind, item.error_code)
        for lane, num_items in Counter(item.lane for item in moved if item.status is WorkStatus.QUEUED).items():
            self._wakeups.wake(lane, num_items)
        return len(moved)

    @override
    async def purge_items(self, ctx: OpContext, older_than: timedelta) -> int:
        ctx.require(Permission.WORK_SWEEP)
        return await self._storage.purge_items(ctx.org_id, older_than, self._sweep_limit)

    @override
    async def get_orphaned_orgs(self, rctx: RequestContext) -> frozenset[UUID]:
        # The queue is asked first: an org that is made meanwhile has no item here yet, and is not taken for gone.
        orgs = await self._orgs()
        return frozenset(orgs) - {ctx.org_id for ctx in await self._tenancy.service_contexts(rctx)}

    @override
    async def fail_orphaned(self, org_id: UUID) -> int:
        return await self._storage.fail_orphaned(org_id, self._sweep_limit)

    @override
    async def purge_orphaned(self, org_id: UUID, older_than: timedelta) -> int:
        return await self._storage.purge_items(org_id, older_than, self._sweep_limit)

    @override
    async def read_gauges(self, rctx: RequestContext) -> WorkGauges:
        return await self._storage.read_gauges()

    async def _orgs(self) -> list[UUID]:
        orgs: list[UUID] = []
        for _ in range(MAX_ORG_PAGES):
            page = await self._storage.read_orgs(MAX_PAGE, orgs[-1] if orgs else None)
            orgs += page
            if len(page) < MAX_PAGE:
                return orgs
        raise Unavailable(f"more than {MAX_ORG_PAGES * MAX_PAGE} orgs with work")
