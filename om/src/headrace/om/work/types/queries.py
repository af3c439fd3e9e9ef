"""What operators ask the queue, and what it answers."""

from datetime import timedelta
from uuid import UUID

from pydantic import AwareDatetime

from headrace.om.base import Platform
from headrace.om.paging import SoughtText
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.types.control import WorkPause
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem, WorkStatus


class WorkFilter(Platform):
    """Which items of a tenant; every field that is set narrows."""

    status: WorkStatus | None = None
    kind: WorkKind | None = None
    lane: SoughtText | None = None
    origin: SoughtText | None = None
    bundle_id: UUID | None = None
    started_before: AwareDatetime | None = None
    has_error: bool | None = None


class WorkCount(Platform):
    """How many items of a tenant stand at one status of one kind in one lane."""

    status: WorkStatus
    kind: WorkKind
    lane: str
    num_items: int


class WorkStatusReport(Platform):
    """A tenant's queue at a glance."""

    counts: tuple[WorkCount, ...]
    oldest_waiting: timedelta | None
    """How long the oldest due item has waited; None where nothing is due."""
    num_open_bundles: int = 0
    num_settled_bundles: int = 0
    pauses: tuple[WorkPause, ...] = ()
    """What is paused and may be why: lanes, kinds, and the tenant itself; never another tenant."""


class WorkGauges(Platform):
    """The whole queue at a glance, across tenants; numbers only."""

    num_queued: int
    num_claimed: int
    num_failed: int
    num_parked: int
    """Queued items whose time has not come."""
    oldest_waiting: timedelta | None


class WorkHeldBack(Platform):
    """How many due items what holds back, across tenants; an item counts under each reason that there is."""

    num_paused: int = 0
    num_of_full_kinds: int = 0
    """Of kinds at their limit."""
    num_of_spent_rates: int = 0
    """Of kinds whose rate lets nothing begin right now."""
    num_of_full_orgs: int = 0
    """Of orgs at their limit, in every kind or in the item's."""
    num_of_full_keys: int = 0
    """Of concurrency keys at their limit."""
    num_out_of_order: int = 0
    """Of ordering keys, but for heads that may begin."""


class CreatedItem(Platform):
    """What an insert did with one item."""

    outcome: InsertOutcome
    item_id: UUID
    """The row that is there now: the item's own, or the one that had its id, its key or its uniqueness before."""


class CreatedBundle(Platform):
    """What an insert did with a bundle and its items, of which all were written or none."""

    outcome: InsertOutcome
    """INSERTED; ID_EXISTS: the bundle's id is there; KEY_EXISTS: an item's id, key or uniqueness is there."""
    taken: tuple[CreatedItem, ...] = ()
    """With KEY_EXISTS: what is there of each item, in the given order; INSERTED stands for one that is free."""


class RetriedItem(Platform):
    """What a retry of many did with one item."""

    item_id: UUID
    lane: str
    is_queued: bool
    """Whether it was queued again; False: an unsettled item agrees with it in what it is unique for."""


class ClaimedRow(Platform):
    """A row that a claim took, with the tenant it belongs to."""

    org_id: UUID
    item: WorkItem
