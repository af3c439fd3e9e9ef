"""Bundles: enqueued whole, looked at, removed whole."""

from collections.abc import Sequence
from datetime import timedelta
from typing import override
from uuid import UUID

from headrace.infra.topics import Topics
from headrace.om.base import new_id
from headrace.om.context import OpContext, Permission
from headrace.om.encoding import refuse_unstorable_instant, refuse_unstorable_text
from headrace.om.exceptions import Unavailable, ValidationFailed
from headrace.om.paging import checked_limit
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.bundling import MAX_BUNDLE, follow_up_of
from headrace.om.work.diversion import divert_bundle
from headrace.om.work.exceptions import WorkBundleInWrongState, WorkBundleNotFound, WorkItemTaken
from headrace.om.work.impl.enqueue import MAX_TRIES, refuse_bad_bulk, refuse_repeated
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.impl.waiting import until_settled
from headrace.om.work.manager import POLL_INTERVAL, WorkBundleInterface
from headrace.om.work.stamping import fresh, stamped
from headrace.om.work.types.bundle import BundleFilter, BundleStatus, WorkBundle
from headrace.om.work.types.queries import CreatedBundle
from headrace.om.work.types.work_item import WorkItem


class WorkBundleImpl(WorkPart, WorkBundleInterface):
    """The queue for who asks for items that belong together."""

    @override
    async def enqueue_bundle(self, ctx: OpContext, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle:
        ctx.require(Permission.WORK_ENQUEUE)
        ready = _stamped_items(ctx, bundle, items)
        written = _stamped_bundle(ctx, bundle, len(ready))
        if (diverted := await divert_bundle(ctx.org_id, written, ready)) is not None:
            return diverted
        for _ in range(MAX_TRIES):
            created = await self._storage.create_bundle(ctx.org_id, written, ready)
            if created.outcome is InsertOutcome.INSERTED:
                self._wake_for(ready)
                return written
            if created.outcome is InsertOutcome.KEY_EXISTS:
                raise _taken(created)
            if (present := await self._storage.read_bundle(ctx.org_id, bundle.id)) is not None:
                return present
        raise Unavailable("the bundle's id comes and goes; enqueue it again")

    @override
    async def get_bundle(self, ctx: OpContext, bundle_id: UUID) -> WorkBundle:
        ctx.require(Permission.WORK_READ)
        return await self._known_bundle(ctx, bundle_id)

    @override
    async def get_bundles(
        self, ctx: OpContext, where: BundleFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkBundle, ...]:
        ctx.require(Permission.WORK_READ)
        return await self._storage.read_bundles(ctx.org_id, where, checked_limit(limit), after)

    @override
    async def wait_bundle_settled(
        self, ctx: OpContext, bundle_id: UUID, timeout: timedelta, *, poll_interval: timedelta = POLL_INTERVAL
    ) -> WorkBundle:
        ctx.require(Permission.WORK_READ)
        return await until_settled(
            self._news.topics,
            Topics.BUNDLE_SETTLED,
            (ctx.org_id, bundle_id),
            lambda: self._known_bundle(ctx, bundle_id),
            timeout=timeout,
            poll_interval=poll_interval,
        )

    @override
    async def delete_bundle(self, ctx: OpContext, bundle_id: UUID) -> None:
        ctx.require(Permission.WORK_OPERATE)
        if not await self._storage.delete_bundle(ctx.org_id, bundle_id):
            bundle = await self._known_bundle(ctx, bundle_id)
            raise WorkBundleInWrongState(f"an item of bundle {bundle.id} is claimed; nothing was removed")

    async def _known_bundle(self, ctx: OpContext, bundle_id: UUID) -> WorkBundle:
        if (bundle := await self._storage.read_bundle(ctx.org_id, bundle_id)) is None:
            raise WorkBundleNotFound(f"no bundle {bundle_id} in this org")
        return bundle


def _stamped_items(ctx: OpContext, bundle: WorkBundle, items: Sequence[WorkItem]) -> list[WorkItem]:
    if not items:
        raise ValidationFailed("items", "at least one item: an empty bundle would never settle")
    refuse_bad_bulk(items, MAX_BUNDLE)
    ready = [stamped(ctx, item, at=f"items[{index}].") for index, item in enumerate(items)]
    refuse_repeated(ready, "idempotency_key")
    refuse_repeated(ready, "unique_hash", named="unique_for")
    return [item.model_copy(update={"bundle_id": bundle.id}) for item in ready]


def _stamped_bundle(ctx: OpContext, bundle: WorkBundle, num_items: int) -> WorkBundle:
    """Return the bundle as it is written: its own fields fresh, and what follows it an item that can be enqueued."""
    for field in ("kind", "origin"):
        refuse_unstorable_text(field, getattr(bundle, field))
    for field in ("created_at", "updated_at"):
        refuse_unstorable_instant(field, getattr(bundle, field))
    written = bundle.model_copy(
        update={
            "created_by": ctx.user_id,
            "updated_by": ctx.user_id,
            "request_id": ctx.request_id,
            "traceparent": ctx.traceparent,
            "num_items": num_items,
            "num_done": 0,
            "num_failed": 0,
            "num_cancelled": 0,
            "status": BundleStatus.OPEN,
            "settled_at": None,
            "follow_up_id": None if bundle.on_settled is None else new_id(),
        }
    )
    follow_up = follow_up_of(written)
    if follow_up is None or written.on_settled is None:
        return written
    max_attempts = fresh(follow_up, at="on_settled.").max_attempts
    return written.model_copy(
        update={"on_settled": written.on_settled.model_copy(update={"max_attempts": max_attempts})}
    )


def _taken(created: CreatedBundle) -> WorkItemTaken:
    place, there = next(
        (place, each) for place, each in enumerate(created.taken) if each.outcome is not InsertOutcome.INSERTED
    )
    what = "id" if there.outcome is InsertOutcome.ID_EXISTS else "key, or what it is unique for,"
    return WorkItemTaken(f"items[{place}]: its {what} is taken by item {there.item_id}; nothing was written")
