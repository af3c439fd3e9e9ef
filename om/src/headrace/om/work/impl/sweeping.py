"""The queue's part of the maintenance sweep."""

from datetime import timedelta
from typing import Final, override
from uuid import UUID

from headrace.om.context import OpContext, Permission, RequestContext
from headrace.om.paging import all_ids, checked_age, checked_limit
from headrace.om.work.impl.news import Ended
from headrace.om.work.impl.parts import WorkPart, dead_letter
from headrace.om.work.manager import WorkSweepInterface
from headrace.om.work.types.queries import WorkGauges, WorkHeldBack
from headrace.om.work.types.work_item import WorkStatus

NOT_OVERDUE: Final = timedelta(0)
"""A lease that has passed on the database's clock has passed: no grace on top."""


class WorkSweepImpl(WorkPart, WorkSweepInterface):
    """The queue for the maintenance sweep."""

    @override
    async def maintenance_contexts(self, rctx: RequestContext) -> tuple[OpContext, ...]:
        return await self._tenancy.service_contexts(rctx)

    @override
    async def get_stale_orgs(self, rctx: RequestContext, limit: int) -> frozenset[UUID]:
        return frozenset(await self._storage.read_stale_orgs(checked_limit(limit)))

    @override
    async def requeue_stale(self, ctx: OpContext) -> int:
        ctx.require(Permission.WORK_SWEEP)
        moved = await self._storage.requeue_stale(
            ctx.org_id, NOT_OVERDUE, self._sweep_limit, max_crashes=self._max_crashes
        )
        self._wake(item.lane for item in moved if item.status is WorkStatus.QUEUED)
        self._let_others_in(item for item in moved if item.status is not WorkStatus.QUEUED)
        failed = [item for item in moved if item.status is WorkStatus.FAILED]
        await self._name_dead_letters([(ctx, dead_letter(item.id, item.kind, item.error_code)) for item in failed])
        await self._tell([Ended.of(ctx.org_id, item, "requeued") for item in moved])
        return len(moved)

    @override
    async def purge_items(self, ctx: OpContext, older_than: timedelta) -> int:
        ctx.require(Permission.WORK_SWEEP)
        return await self._purge(ctx.org_id, checked_age(older_than))

    async def _purge(self, org_id: UUID, older_than: timedelta) -> int:
        """Remove items, then the bundles that none is left of."""
        num_items = await self._storage.purge_items(org_id, older_than, self._sweep_limit)
        return num_items + await self._storage.purge_bundles(org_id, older_than, self._sweep_limit)

    @override
    async def get_orphaned_orgs(self, rctx: RequestContext) -> frozenset[UUID]:
        # The queue is asked first: an org that is made meanwhile has no item here yet, and is not taken for gone.
        orgs = await all_ids(self._storage.read_orgs)
        return frozenset(orgs) - {ctx.org_id for ctx in await self._tenancy.service_contexts(rctx)}

    @override
    async def fail_orphaned(self, org_id: UUID) -> int:
        return await self._storage.fail_orphaned(org_id, self._sweep_limit)

    @override
    async def purge_orphaned(self, org_id: UUID, older_than: timedelta) -> int:
        checked_age(older_than)
        num_schedules = await self._storage.delete_schedules(org_id, self._sweep_limit)
        num_items = await self._storage.purge_items(org_id, older_than, self._sweep_limit)
        # The tenant is found by its items alone: with the last of them its bundles go too, however young they are.
        num_bundles = await self._storage.purge_bundles(org_id, timedelta(0), self._sweep_limit)
        return num_schedules + num_items + num_bundles

    @override
    async def read_gauges(self, rctx: RequestContext) -> WorkGauges:
        return await self._storage.read_gauges()

    @override
    async def read_held_back(self, rctx: RequestContext) -> WorkHeldBack:
        return await self._storage.read_held_back()
