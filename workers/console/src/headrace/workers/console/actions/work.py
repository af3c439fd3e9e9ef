"""Work items: enqueueing, looking, retrying, cancelling."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from headrace.om.base import FrozenMapping, utcnow
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import RetriedItem, WorkFilter
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.console.actions.session import Session
from headrace.workers.console.exceptions import NotSettledInTime


@dataclass(frozen=True, slots=True)
class WorkWish:
    """What to enqueue, as the command line has it; None leaves a field at the work item's own default."""

    kind: WorkKind
    payload: dict[str, Any]
    origin: str
    delay: timedelta
    lane: str | None
    priority: int | None
    idempotency_key: str | None
    max_attempts: int | None
    unique_for: tuple[str, ...] | None
    concurrency_key: str | None
    ordering_key: str | None

    def item(self) -> WorkItem:
        """Return the item.

        Raises:
            pydantic.ValidationError: A field does not fit.
        """
        chosen = {
            "lane": self.lane,
            "priority": self.priority,
            "idempotency_key": self.idempotency_key,
            "max_attempts": self.max_attempts,
            "unique_for": self.unique_for,
            "concurrency_key": self.concurrency_key,
            "ordering_key": self.ordering_key,
            "available_at": utcnow() + self.delay if self.delay else None,
        }
        return WorkItem.model_validate(
            {"kind": self.kind, "payload": FrozenMapping(self.payload), "origin": self.origin}
            | {name: value for name, value in chosen.items() if value is not None}
        )


async def enqueue(session: Session, wish: WorkWish) -> tuple[WorkItem, bool]:
    """Enqueue an item; return it as it stands, and whether it is new rather than found under its key."""
    wanted = wish.item()
    item = await session.managers.work.enqueue(session.ctx, wanted)
    return item, item.id == wanted.id


async def get_items(
    session: Session, where: WorkFilter, limit: int, after: UUID | None
) -> tuple[tuple[WorkItem, ...], UUID | None]:
    """Return a page of items, newest first, and after which id the next page begins; None where this is the last."""
    items = await session.managers.work.get_items(session.ctx, where, limit, after)
    return items, items[-1].id if len(items) == limit else None


async def get_item(session: Session, item_id: UUID) -> WorkItem:
    """Return one item."""
    return await session.managers.work.get_item(session.ctx, item_id)


async def retry(session: Session, item_id: UUID) -> WorkItem:
    """Queue a settled item again."""
    return await session.managers.work.retry(session.ctx, item_id)


async def retry_many(
    session: Session, where: WorkFilter, limit: int, after: UUID | None
) -> tuple[tuple[RetriedItem, ...], UUID | None]:
    """Queue a page of settled items again; return what became of each, and after which id the next page begins."""
    retried = await session.managers.work.retry_many(session.ctx, where, limit, after)
    return retried, retried[-1].item_id if len(retried) == limit else None


async def delete_finished(session: Session, where: WorkFilter, limit: int) -> int:
    """Remove settled items; return how many."""
    return await session.managers.work.delete_finished(session.ctx, where, limit)


async def wait(session: Session, item_id: UUID, limit: timedelta) -> WorkItem:
    """Return the item once it has settled.

    Raises:
        NotSettledInTime: It has not within the limit.
    """
    item = await session.managers.work.wait_settled(session.ctx, item_id, limit)
    if item.settled_at is None:
        raise NotSettledInTime(f"item {item.id} is still {item.status} after {item.attempts} attempts")
    return item


async def cancel(session: Session, item_id: UUID) -> WorkItem:
    """Cancel a queued item, or ask the holder of a claimed one to."""
    return await session.managers.work.cancel(session.ctx, item_id)
