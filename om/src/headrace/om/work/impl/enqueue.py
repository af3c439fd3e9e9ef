"""Enqueueing: a create that reports what is there already, then a wake-up."""

import logging
from collections.abc import Mapping, Sequence
from typing import Final, override
from uuid import UUID

from pydantic import ValidationError

from headrace.om.context import OpContext, Permission
from headrace.om.exceptions import Unavailable, ValidationFailed
from headrace.om.outbox.types.outbox_row import WORK_KIND_PREFIX, OutboxRow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.diversion import divert_items
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.manager import WorkEnqueueInterface
from headrace.om.work.stamping import fresh, stamped
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import CreatedItem
from headrace.om.work.types.settlement import Enqueued
from headrace.om.work.types.work_item import WorkItem

logger = logging.getLogger(__name__)

MAX_BULK: Final = 10_000
"""Items of one bulk enqueue: one statement stays within its deadline."""

MAX_TRIES: Final = 3
"""How often an enqueue is tried whose way is barred by a row that is gone a moment later."""


class WorkEnqueueImpl(WorkPart, WorkEnqueueInterface):
    """The queue for who asks for work."""

    @override
    async def enqueue(self, ctx: OpContext, item: WorkItem) -> WorkItem:
        ctx.require(Permission.WORK_ENQUEUE)
        return await self._create(ctx.org_id, stamped(ctx, item))

    @override
    async def enqueue_many(self, ctx: OpContext, items: Sequence[WorkItem]) -> tuple[Enqueued, ...]:
        ctx.require(Permission.WORK_ENQUEUE)
        refuse_bad_bulk(items)
        if not items:
            return ()
        ready = [stamped(ctx, item, at=f"items[{index}].") for index, item in enumerate(items)]
        created = await self._create_many(ctx.org_id, ready)
        inserted = InsertOutcome.INSERTED
        return tuple(Enqueued.trusted({"item_id": c.item_id, "is_new": c.outcome is inserted}) for c in created)

    @override
    async def enqueue_relayed(self, org_id: UUID, row: OutboxRow) -> WorkItem:
        return await self._create(org_id, item_from_row(row))

    @override
    async def enqueue_relayed_many(self, org_id: UUID, rows: Sequence[OutboxRow]) -> tuple[Exception | None, ...]:
        items: dict[UUID, WorkItem] = {}
        refusals: dict[UUID, Exception] = {}
        for row in rows:
            try:
                items[row.id] = item_from_row(row)
            except Exception as error:  # noqa: BLE001 - whatever a row holds, the others are enqueued
                refusals[row.id] = error
        refusals |= await self._refusals_of(org_id, items)
        return tuple(refusals.get(row.id) for row in rows)

    async def _refusals_of(self, org_id: UUID, items: Mapping[UUID, WorkItem]) -> dict[UUID, Exception]:
        """Enqueue the items together, or one by one where that is refused; return why which are not in the queue."""
        if not items:
            return {}
        try:
            await self._create_many(org_id, list(items.values()))
        except Unavailable:
            raise
        except Exception:
            logger.warning("%d rows of %s are enqueued one by one", len(items), org_id, exc_info=True)
            tried = {row_id: await self._refusal_of(org_id, item) for row_id, item in items.items()}
            return {row_id: error for row_id, error in tried.items() if error is not None}
        return {}

    async def _refusal_of(self, org_id: UUID, item: WorkItem) -> Exception | None:
        try:
            await self._create(org_id, item)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this row's and handed back as such
            return error
        return None

    async def _create_many(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        """Insert those that are not there yet, and wake their lanes."""
        if taken := await divert_items(org_id, items):
            return await self._create_others(org_id, items, taken)
        created = await self._storage.create_items(org_id, items)
        new = {each.item_id for each in created if each.outcome is InsertOutcome.INSERTED}
        self._wake_for(item for item in items if item.id in new)
        return created

    async def _create_others(
        self, org_id: UUID, items: Sequence[WorkItem], taken: Mapping[UUID, WorkItem]
    ) -> tuple[CreatedItem, ...]:
        """Insert the items that a test does not divert; report all of them."""
        created = await self._storage.create_items(org_id, [item for item in items if item.id not in taken])
        reports = {item.id: CreatedItem(outcome=InsertOutcome.INSERTED, item_id=item.id) for item in taken.values()}
        left = iter(created)
        return tuple(reports[item.id] if item.id in taken else next(left) for item in items)

    async def _create(self, org_id: UUID, item: WorkItem) -> WorkItem:
        """Insert and wake, or read back what is there; an item deleted between the two is inserted after all."""
        if taken := await divert_items(org_id, (item,)):
            return taken[item.id]
        for _ in range(MAX_TRIES):
            (created,) = await self._storage.create_items(org_id, (item,))
            if created.outcome is InsertOutcome.INSERTED:
                self._wake_for((item,))
                return item
            if (present := await self._storage.read_item(org_id, created.item_id)) is not None:
                return present
        raise Unavailable("the item's id or key comes and goes; enqueue it again")


def refuse_bad_bulk(items: Sequence[WorkItem], at_most: int = MAX_BULK) -> None:
    """Return when a bulk enqueue can be taken as a whole.

    Raises:
        ValidationFailed: There are too many items, or two share an id.
    """
    if len(items) > at_most:
        raise ValidationFailed("items", f"at most {at_most}, got {len(items)}")
    refuse_repeated(items, "id")


def refuse_repeated(items: Sequence[WorkItem], field: str, *, named: str | None = None) -> None:
    """Return when no two items say the same in a field.

    Args:
        items: In the caller's order.
        field: Where None says nothing.
        named: The field that the caller set, where it is another one.

    Raises:
        ValidationFailed: Two do; the sentence names the second.
    """
    seen: set[object] = set()
    for index, item in enumerate(items):
        value = getattr(item, field)
        if value is not None and value in seen:
            raise ValidationFailed(f"items[{index}].{named or field}", "one of its own: an earlier item has the same")
        seen.add(value)


def item_from_row(row: OutboxRow) -> WorkItem:
    """Return the item that an outbox row asks for, under the row's id as its key.

    Raises:
        ValidationFailed: The row names no known kind, or its payload is no item of that kind.
    """
    kind = row.kind.removeprefix(WORK_KIND_PREFIX)
    if kind == row.kind or kind not in set(WorkKind):
        raise ValidationFailed("kind", f"{WORK_KIND_PREFIX}<a known work kind>, got {row.kind!r}")
    asked = {name: value for name, value in row.payload.thawed().items() if value is not None}
    from_row = {
        "kind": kind,
        "idempotency_key": str(row.id),
        "request_id": row.request_id,
        "traceparent": row.traceparent,
        "created_by": row.actor_id,
        "updated_by": row.actor_id,
    }
    try:
        item = WorkItem.model_validate(asked | from_row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise ValidationFailed(".".join(str(p) for p in ("payload", *first["loc"])), first["msg"]) from error
    return fresh(item)
