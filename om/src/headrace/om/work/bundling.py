"""The arithmetic of bundles: how an item's end counts, and what follows the last one.

Pure. `storage/impl/bundle_statements.py` spells `counted` and `follow_up_of` once more, named there as such, because a
counter must move in the transaction that settles its item; the contract holds the two together.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from headrace.om.base import EMPTY_UUID
from headrace.om.work.types.bundle import BundleStatus, WorkBundle
from headrace.om.work.types.work_item import WorkItem, WorkStatus

MAX_BUNDLE: Final = 10_000
"""Items of one bundle: they are written by one statement, which stays within its deadline."""

COUNTERS: Final[Mapping[WorkStatus, str]] = MappingProxyType(
    {
        WorkStatus.DONE: "num_done",
        WorkStatus.FAILED: "num_failed",
        WorkStatus.CANCELLED: "num_cancelled",
    }
)
"""Which counter each end moves."""

KEY_PREFIX: Final = "bundle:"
"""What the key of every follow-up of a bundle begins with, and no caller's own."""


def counted(bundle: WorkBundle, status: WorkStatus, by: int, now: datetime) -> WorkBundle:
    """Return the bundle after one of its items settled (`by` 1), or was queued again after that end (-1).

    It is settled exactly while every item is counted. An item that is removed unsettled counts as cancelled; one that
    is removed after it settled stays counted, since its end is what the bundle tells of.
    """
    counter = COUNTERS[status]
    is_settled = bundle.num_settled + by >= bundle.num_items
    return bundle.model_copy(
        update={
            counter: getattr(bundle, counter) + by,
            "status": BundleStatus.SETTLED if is_settled else BundleStatus.OPEN,
            "settled_at": now if is_settled else None,
            "updated_at": now,
            "updated_by": EMPTY_UUID,
        }
    )


def follow_up_of(bundle: WorkBundle) -> WorkItem | None:
    """Return the item that follows the bundle's last end; None where the bundle names none.

    Its id and its key belong to the bundle, so that a bundle that settles twice is followed once.
    """
    wanted = bundle.on_settled
    if wanted is None or bundle.follow_up_id is None:
        return None
    return WorkItem.model_validate(
        {
            **wanted.model_dump(exclude_none=True),
            "id": bundle.follow_up_id,
            "origin": bundle.origin,
            "idempotency_key": follow_up_key(bundle.id),
            "request_id": bundle.request_id,
            "traceparent": bundle.traceparent,
            "created_by": bundle.created_by,
            "updated_by": bundle.created_by,
        }
    )


def follow_up_key(bundle_id: UUID) -> str:
    """Return the idempotency key of a bundle's follow-up."""
    return f"{KEY_PREFIX}{bundle_id}"
