"""What operators see and do."""

from collections.abc import Awaitable
from typing import override
from uuid import UUID

from headrace.om.context import OpContext, Permission
from headrace.om.paging import checked_limit
from headrace.om.work.exceptions import WorkItemInWrongState, WorkItemNotFound
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.manager import WorkOperatorInterface
from headrace.om.work.types.queries import WorkFilter, WorkStatusReport
from headrace.om.work.types.work_item import WorkItem


class WorkOperatorImpl(WorkPart, WorkOperatorInterface):
    """The queue for who looks after it."""

    @override
    async def get_item(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        ctx.require(Permission.WORK_READ)
        return await self._known(ctx, item_id)

    @override
    async def get_items(
        self, ctx: OpContext, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        ctx.require(Permission.WORK_READ)
        return await self._storage.read_items(ctx.org_id, where, checked_limit(limit), after)

    @override
    async def get_status(self, ctx: OpContext) -> WorkStatusReport:
        ctx.require(Permission.WORK_READ)
        return await self._storage.read_status(ctx.org_id)

    @override
    async def cancel(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        ctx.require(Permission.WORK_OPERATE)
        return await self._changed(ctx, item_id, self._storage.cancel_item(ctx.org_id, item_id), "cancelled")

    @override
    async def retry(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        ctx.require(Permission.WORK_OPERATE)
        item = await self._changed(ctx, item_id, self._storage.retry_item(ctx.org_id, item_id), "retried")
        self._wakeups.wake(item.lane, 1)
        return item

    @override
    async def delete_item(self, ctx: OpContext, item_id: UUID) -> None:
        ctx.require(Permission.WORK_OPERATE)
        if not await self._storage.delete_item(ctx.org_id, item_id):
            raise _wrong_state(await self._known(ctx, item_id), "deleted")

    async def _changed(self, ctx: OpContext, item_id: UUID, change: Awaitable[WorkItem | None], done: str) -> WorkItem:
        if (item := await change) is None:
            raise _wrong_state(await self._known(ctx, item_id), done)
        return item

    async def _known(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        if (item := await self._storage.read_item(ctx.org_id, item_id)) is None:
            raise WorkItemNotFound(f"no work item {item_id} in this org")
        return item


def _wrong_state(item: WorkItem, done: str) -> WorkItemInWrongState:
    return WorkItemInWrongState(f"item {item.id} is {item.status} and cannot be {done}; nothing was changed")
