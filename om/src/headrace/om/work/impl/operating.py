"""What operators see and do."""

from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import override
from uuid import UUID

from headrace.infra.topics import Topics
from headrace.om.context import OpContext, Permission
from headrace.om.exceptions import PlatformException
from headrace.om.paging import checked_limit
from headrace.om.work.exceptions import WorkItemInWrongState, WorkItemNotFound, WorkItemNotUnique
from headrace.om.work.impl.news import Ended
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.impl.waiting import until_settled
from headrace.om.work.manager import POLL_INTERVAL, WorkOperatorInterface
from headrace.om.work.types.queries import RetriedItem, WorkFilter, WorkStatusReport
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus


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
        report = await self._storage.read_status(ctx.org_id)
        controls = await self._storage.read_controls()
        mine = tuple(pause for pause in controls.pauses if pause.org_id in {None, ctx.org_id})
        return report.model_copy(update={"pauses": mine})

    @override
    async def cancel(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        ctx.require(Permission.WORK_OPERATE)
        item = await self._changed(ctx, item_id, self._storage.cancel_item(ctx.org_id, item_id), "cancelled")
        await self._after_cancels(ctx, [item])
        return item

    @override
    async def cancel_many(
        self, ctx: OpContext, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        ctx.require(Permission.WORK_OPERATE)
        items = await self._storage.cancel_items(ctx.org_id, where, checked_limit(limit), after)
        await self._after_cancels(ctx, items)
        return items

    @override
    async def retry(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        ctx.require(Permission.WORK_OPERATE)
        item = await self._storage.retry_item(ctx.org_id, item_id)
        if item is None:
            raise _not_retried(await self._known(ctx, item_id))
        self._wake([item.lane])
        return item

    @override
    async def retry_many(
        self, ctx: OpContext, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[RetriedItem, ...]:
        ctx.require(Permission.WORK_OPERATE)
        retried = await self._storage.retry_items(ctx.org_id, where, checked_limit(limit), after)
        self._wake(each.lane for each in retried if each.is_queued)
        return retried

    @override
    async def delete_item(self, ctx: OpContext, item_id: UUID) -> None:
        ctx.require(Permission.WORK_OPERATE)
        item = await self._storage.delete_item(ctx.org_id, item_id)
        if item is None:
            raise _wrong_state(await self._known(ctx, item_id), "deleted")
        if item.status is WorkStatus.QUEUED:
            self._let_others_in([item])
            ended = item.model_copy(update={"status": WorkStatus.CANCELLED})
            await self._tell([Ended.of(ctx.org_id, ended, WorkStatus.CANCELLED)])

    @override
    async def delete_finished(self, ctx: OpContext, where: WorkFilter, limit: int) -> int:
        ctx.require(Permission.WORK_OPERATE)
        return await self._storage.delete_items(ctx.org_id, where, checked_limit(limit))

    @override
    async def wait_settled(
        self, ctx: OpContext, item_id: UUID, timeout: timedelta, *, poll_interval: timedelta = POLL_INTERVAL
    ) -> WorkItem:
        ctx.require(Permission.WORK_READ)
        return await until_settled(
            self._news.topics,
            Topics.WORK_SETTLED,
            (ctx.org_id, item_id),
            lambda: self._known(ctx, item_id),
            timeout=timeout,
            poll_interval=poll_interval,
        )

    async def _after_cancels(self, ctx: OpContext, items: Sequence[WorkItem]) -> None:
        """Wake who may begin now, and tell of the ends; of items that are only flagged there is nothing to tell yet."""
        if ended := [item for item in items if item.status is WorkStatus.CANCELLED]:
            self._let_others_in(ended)
            await self._tell([Ended.of(ctx.org_id, item, WorkStatus.CANCELLED) for item in ended])

    async def _changed(self, ctx: OpContext, item_id: UUID, change: Awaitable[WorkItem | None], done: str) -> WorkItem:
        if (item := await change) is None:
            raise _wrong_state(await self._known(ctx, item_id), done)
        return item

    async def _known(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        if (item := await self._storage.read_item(ctx.org_id, item_id)) is None:
            raise WorkItemNotFound(f"no work item {item_id} in this org")
        return item


def _not_retried(item: WorkItem) -> PlatformException:
    if item.status in SETTLED_STATUSES and item.unique_hash is not None:
        return WorkItemNotUnique(
            f"item {item.id} cannot be retried: another of its kind agrees with it in {_named(item)} and has not"
            " settled; nothing was changed"
        )
    return _wrong_state(item, "retried")


def _named(item: WorkItem) -> str:
    return ", ".join(f"payload.{name}" for name in item.unique_for or ()) or "being one of its kind"


def _wrong_state(item: WorkItem, done: str) -> WorkItemInWrongState:
    return WorkItemInWrongState(f"item {item.id} is {item.status} and cannot be {done}; nothing was changed")
