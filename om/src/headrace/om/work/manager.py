"""What the queue promises, by reader: who enqueues, who holds a claim, who operates, who sweeps."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from headrace.om.context import OpContext, RequestContext
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.work.schedules import WorkScheduleInterface
from headrace.om.work.types.bundle import BundleFilter, WorkBundle
from headrace.om.work.types.control import WorkControl, WorkControls
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import RetriedItem, WorkFilter, WorkGauges, WorkHeldBack, WorkStatusReport
from headrace.om.work.types.settlement import Enqueued, Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import WorkItem

POLL_INTERVAL: Final = timedelta(seconds=1)
"""Between two looks of somebody who waits, unless they say otherwise."""


class WorkEnqueueInterface(ABC):
    """For who asks for work. With a context: permission WORK_ENQUEUE, else `NotAuthorized` and nothing is written."""

    @abstractmethod
    async def enqueue(self, ctx: OpContext, item: WorkItem) -> WorkItem:
        """Put an item in the queue and wake its lane; return it as it was written.

        Safe to call again: an item whose id or idempotency key is there already is read back untouched, as it
        stands, whatever has become of it since. Likewise one that agrees in what it is unique for with an item that
        has not settled: that one is read back.

        Args:
            ctx: Whose tenant, and who is named as having asked.
            item: What to do. Fields in `WorkItem.MANAGER_OWNED_FIELDS` are overwritten.

        Raises:
            ValidationFailed: A field or the payload does not fit; nothing was written.
            Unavailable: The database did not take it; it may be enqueued again with the same id or key.
        """
        ...

    @abstractmethod
    async def enqueue_many(self, ctx: OpContext, items: Sequence[WorkItem]) -> tuple[Enqueued, ...]:
        """Put many items in the queue in one statement; return what became of each, in the same order.

        All or nothing where a field does not fit; an item that is there already never fails the others.

        Args:
            ctx: As for `enqueue`.
            items: At most 10 000, no two with the same id; empty is no error.

        Raises:
            ValidationFailed: As for `enqueue`, the field naming the item's position; or there are too many.
            Unavailable: As for `enqueue`; none was written, or all were.
        """
        ...

    @abstractmethod
    async def enqueue_relayed(self, org_id: UUID, row: OutboxRow) -> WorkItem:
        """Enqueue the work that an outbox row of kind `work.<kind>` asks for; the relay's call.

        An operation without a principal. Actor, request and trace come from the row, whose id is the
        item's idempotency key: relaying it twice leaves one item.

        Raises:
            ValidationFailed: The row's payload is no work item of a known kind.
        """
        ...

    @abstractmethod
    async def enqueue_relayed_many(self, org_id: UUID, rows: Sequence[OutboxRow]) -> tuple[Exception | None, ...]:
        """Enqueue the work of many rows of one tenant, in one statement; as safe to repeat as `enqueue_relayed`.

        Where the statement is refused, the rows go one by one, so that only those fail that are refused.

        Args:
            org_id: The tenant.
            rows: At most 10 000, each once; empty is no error.

        Returns:
            For each row, in the given order: None where its item is in the queue, else why it is not.

        Raises:
            Unavailable: The database did not take the statement; it may be called again with the same rows.
        """
        ...


class WorkHolderInterface(ABC):
    """For who works: claims, and what the holder of a claim may do.

    Every write is conditional on the claim token in the statement itself. A stale holder's write raises
    `WorkClaimLost` and changes nothing; after a settlement the token is spent. With a context: permission
    WORK_SETTLE, else `NotAuthorized` and nothing is written. `Unavailable` says that the database did not answer:
    the call may be made again with the same token.
    """

    @abstractmethod
    async def claim(
        self, rctx: RequestContext, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> tuple[OpContext, WorkItem] | None:
        """Take the next due item, or None where there is none; see `claim_many`."""
        ...

    @abstractmethod
    async def claim_many(
        self,
        rctx: RequestContext,
        lane: str,
        kinds: Sequence[WorkKind],
        worker_id: str,
        lease: timedelta,
        limit: int,
    ) -> tuple[tuple[OpContext, WorkItem], ...]:
        """Take up to `limit` due items of a lane, each with the context that its work runs under.

        An operation without a principal: it reads across tenants. The claim goes round the tenants, so that one's
        many items do not starve another's few; of one tenant the highest priority comes first, then the item that has
        been due longest. Nothing is taken beyond what limits, rates, pauses and the items' keys let begin. Items that
        others are claiming are passed over. The lease starts on the database's clock. Items whose tenant is gone are
        failed as `fail_orphaned` does, not returned.

        Args:
            rctx: Minted by the loop for this claim.
            lane: Where to look.
            kinds: Which kinds this worker handles; at least one.
            worker_id: For operators; 1-200 characters.
            lease: How long the claims hold without a renewal; above zero, up to 365 days.
            limit: At most this many, 1-1000.

        Raises:
            Unavailable: The database did not answer. Rows that it may have claimed come back when their
                lease passes.
        """
        ...

    @abstractmethod
    async def complete(
        self,
        ctx: OpContext,
        item: WorkItem,
        result: Any = None,  # noqa: ANN401 - any JSON value
        *,
        then: Sequence[WorkItem] = (),
    ) -> None:
        """Settle the item as done, with the handler's result; also clears its count of crashes.

        Args:
            ctx: As the claim returned it.
            item: As it was claimed.
            result: What the handler returned; the follow-ups of a `Done` go with it.
            then: At most 100 items that are enqueued in the same transaction: all of them, or none where the claim is
                lost. One whose id or key is there already is left out; of those that agree with each other one is
                enqueued.

        Raises:
            ValidationFailed: A follow-up does not fit, named as `then[3].payload.x`; nothing was changed.
        """
        ...

    @abstractmethod
    async def fail(self, ctx: OpContext, item: WorkItem, error: BaseException | str) -> None:
        """Record a failed attempt: queued again after the retry delay, or a dead letter when none is left."""
        ...

    @abstractmethod
    async def refuse(self, ctx: OpContext, item: WorkItem, reason: str, *, code: str = "refused") -> None:
        """Settle the item as a dead letter at once, whatever attempts are left."""
        ...

    @abstractmethod
    async def defer(self, ctx: OpContext, item: WorkItem, delay: timedelta) -> None:
        """Hand the item back for a while; the attempt is refunded."""
        ...

    @abstractmethod
    async def park(self, ctx: OpContext, item: WorkItem, reason: str, until: datetime) -> None:
        """Hand the item back until an instant, with a reason for operators; the attempt is refunded.

        Raises:
            ValidationFailed: The instant has no time zone; nothing was changed.
        """
        ...

    @abstractmethod
    async def release(self, ctx: OpContext, item: WorkItem, note: str = "") -> None:
        """Hand the item back unfinished, available at once; the attempt is refunded."""
        ...

    @abstractmethod
    async def extend_lease(self, ctx: OpContext, item: WorkItem, lease: timedelta) -> Renewed:
        """Renew the lease, from now on the database's clock; say whether a cancel was asked for.

        The lease is above zero, up to 365 days.
        """
        ...

    @abstractmethod
    async def report_progress(self, ctx: OpContext, item: WorkItem, progress: float, note: str = "") -> None:
        """Record how far the work is, 0 to 1, and a short note for operators."""
        ...

    @abstractmethod
    async def settle_many(self, settlements: Sequence[tuple[OpContext, Settlement]]) -> tuple[Settled, ...]:
        """Settle claims of many tenants in one statement; return what became of each, in the same order.

        A stale token is reported (`is_recorded`), never raised, and fails no neighbour. Retried in a new
        transaction when the database refuses for now; falls back to row by row when a row cannot be
        written with the others, and then leaves out the texts that cannot be stored. A settlement whose follow-ups
        cannot be enqueued becomes a dead letter that says so. One that was written before, its answer lost, is
        recorded.

        Raises:
            Unavailable: The database did not answer; each may be settled again with the same token.
            ValidationFailed: One cannot be written even without its texts. The others were written all the same, so
                that settling them again reports them as not recorded.
        """
        ...

    @abstractmethod
    async def renew_many(self, renewals: Sequence[tuple[OpContext, Renewal]], lease: timedelta) -> tuple[Renewed, ...]:
        """Renew the leases of one worker's claims in one statement; return those that still hold.

        Args:
            renewals: The claims, each with its context.
            lease: From now on the database's clock; above zero, up to 365 days.

        Raises:
            Unavailable: The database did not answer; no lease was lost by that alone.
        """
        ...


class WorkOperatorInterface(ABC):
    """For who looks after a tenant's queue.

    Permission WORK_READ to look and WORK_OPERATE to change, else `NotAuthorized` and nothing is changed.
    """

    @abstractmethod
    async def get_item(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        """Return one item.

        Raises:
            WorkItemNotFound: It is not in this tenant.
        """
        ...

    @abstractmethod
    async def get_items(
        self, ctx: OpContext, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        """Return items in the order of their ids, newest first, from below `after` on; at most `limit` (1-1000)."""
        ...

    @abstractmethod
    async def get_status(self, ctx: OpContext) -> WorkStatusReport:
        """Return counts by status, kind and lane, how long the oldest due item has waited, and counts of bundles."""
        ...

    @abstractmethod
    async def cancel(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        """Cancel a queued item at once, or ask the holder of a claimed one to; return the item.

        Asking a holder twice is the same as asking once. The holder learns it at its next renewal.

        Raises:
            WorkItemNotFound: It is not in this tenant.
            WorkItemInWrongState: It is settled already, cancelled ones included.
        """
        ...

    @abstractmethod
    async def cancel_many(
        self, ctx: OpContext, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        """Cancel unsettled items as `cancel` does, newest first, from below `after` on, at most `limit` (1-1000).

        Returns:
            The items after it: cancelled, or claimed by somebody who is asked to stop. Fewer than `limit`: there are no
            more.
        """
        ...

    @abstractmethod
    async def retry(self, ctx: OpContext, item_id: UUID) -> WorkItem:
        """Queue a settled item again with fresh attempts; return it.

        Raises:
            WorkItemNotFound: It is not in this tenant.
            WorkItemInWrongState: It is not settled.
        """
        ...

    @abstractmethod
    async def retry_many(
        self, ctx: OpContext, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[RetriedItem, ...]:
        """Queue settled items again as `retry` does, newest first, from below `after` on, at most `limit` (1-1000).

        Returns:
            What became of each. One that agrees with an unsettled item in what it is unique for stays as it is and
            holds no other back. Fewer than `limit`: there are no more.
        """
        ...

    @abstractmethod
    async def delete_item(self, ctx: OpContext, item_id: UUID) -> None:
        """Remove an item that nobody holds; one that had not settled counts as cancelled in its bundle.

        Raises:
            WorkItemNotFound: It is not in this tenant.
            WorkItemInWrongState: It is claimed.
        """
        ...

    @abstractmethod
    async def delete_finished(self, ctx: OpContext, where: WorkFilter, limit: int) -> int:
        """Remove settled items, oldest first, at most `limit` (1-1000); return how many. Their bundles' counts stay."""
        ...

    @abstractmethod
    async def wait_settled(
        self,
        ctx: OpContext,
        item_id: UUID,
        timeout: timedelta,  # noqa: ASYNC109 - ends the wait with an answer, not with a cancel
        *,
        poll_interval: timedelta = POLL_INTERVAL,
    ) -> WorkItem:
        """Return the item as soon as it has settled, or as it stands once the time has passed.

        Hears of settlements where they are published to this process; looks by itself besides.

        Args:
            ctx: Whose item.
            item_id: Which.
            timeout: How long at most; zero looks once.
            poll_interval: Between two looks when nothing is heard; above zero.

        Raises:
            WorkItemNotFound: It is not in this tenant, or was removed meanwhile.
        """
        ...


class WorkBundleInterface(ABC):
    """For who asks for items that belong together.

    Permission WORK_ENQUEUE to enqueue, WORK_READ to look and WORK_OPERATE to remove, else `NotAuthorized` and nothing
    is changed.
    """

    @abstractmethod
    async def enqueue_bundle(self, ctx: OpContext, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle:
        """Put a bundle and its items in the queue, all at once or not at all; return the bundle as it was written.

        Safe to call again: a bundle whose id is there already is read back as it stands, and nothing is enqueued.

        Args:
            ctx: Whose tenant, and who is named as having asked.
            bundle: Fields in `WorkBundle.MANAGER_OWNED_FIELDS` are overwritten.
            items: 1 to 10 000, no two with the same id, key or uniqueness.

        Raises:
            ValidationFailed: There are no items or too many, or a field does not fit, which is named with the item's
                position; nothing was written.
            WorkItemTaken: An item's id, key or uniqueness is there already; nothing was written.
            Unavailable: The database did not take it; it may be enqueued again with the same id.
        """
        ...

    @abstractmethod
    async def get_bundle(self, ctx: OpContext, bundle_id: UUID) -> WorkBundle:
        """Return one bundle.

        Raises:
            WorkBundleNotFound: It is not in this tenant.
        """
        ...

    @abstractmethod
    async def get_bundles(
        self, ctx: OpContext, where: BundleFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkBundle, ...]:
        """Return bundles in the order of their ids, newest first, from below `after` on; at most `limit` (1-1000)."""
        ...

    @abstractmethod
    async def wait_bundle_settled(
        self,
        ctx: OpContext,
        bundle_id: UUID,
        timeout: timedelta,  # noqa: ASYNC109 - likewise
        *,
        poll_interval: timedelta = POLL_INTERVAL,
    ) -> WorkBundle:
        """Return the bundle as soon as it has settled, or as it stands once the time has passed; as `wait_settled`.

        Raises:
            WorkBundleNotFound: It is not in this tenant, or was removed meanwhile.
        """
        ...

    @abstractmethod
    async def delete_bundle(self, ctx: OpContext, bundle_id: UUID) -> None:
        """Remove a bundle with all of its items, settled or not; nothing follows it.

        Raises:
            WorkBundleNotFound: It is not in this tenant.
            WorkBundleInWrongState: One of its items is claimed; nothing was removed.
        """
        ...


class WorkControlInterface(ABC):
    """For who operates the platform: what bounds, paces and pauses claims, in every lane and for every tenant.

    Operations without a principal: no tenant's principal may say what holds for others. Whoever has the database's
    system login may. What is said holds for every claim that begins afterwards, in every worker; it takes back nothing
    that runs, and settles nothing.
    """

    @abstractmethod
    async def set_control(self, rctx: RequestContext, control: WorkControl, *, origin: str) -> None:
        """Say it, in place of what was said about the same subject before. Safe to call twice.

        Args:
            rctx: What asks.
            control: A limit, a rate or a pause.
            origin: Who asks, for operators; 1-100 characters.

        Raises:
            ValidationFailed: The lane or the origin cannot be stored; nothing was changed.
            Unavailable: The database did not take it; it may be said again.
        """
        ...

    @abstractmethod
    async def remove_control(self, rctx: RequestContext, control: WorkControl) -> bool:
        """Take back what is said about the control's subject, whatever its numbers; return whether anything was.

        So a pause is ended by the same pause.
        """
        ...

    @abstractmethod
    async def get_controls(self, rctx: RequestContext) -> WorkControls:
        """Return everything that is said."""
        ...


class WorkSweepInterface(ABC):
    """For the maintenance sweep; every step may run anywhere, at any time, twice.

    With a context: permission WORK_SWEEP, else `NotAuthorized` and nothing is changed.
    """

    @abstractmethod
    async def maintenance_contexts(self, rctx: RequestContext) -> tuple[OpContext, ...]:
        """Return one service context for each live tenant; an operation without a principal."""
        ...

    @abstractmethod
    async def get_stale_orgs(self, rctx: RequestContext, limit: int) -> frozenset[UUID]:
        """Return tenants that hold items whose lease has passed, at most `limit` (1-1000); without a principal.

        So that a sweep asks only the tenants that need it.
        """
        ...

    @abstractmethod
    async def requeue_stale(self, ctx: OpContext) -> int:
        """Hand back this tenant's items whose lease has passed; return how many were moved.

        Counts a crash each; an item whose attempts or crashes are spent becomes a dead letter.
        """
        ...

    @abstractmethod
    async def purge_items(self, ctx: OpContext, older_than: timedelta) -> int:
        """Remove this tenant's items settled longer ago than that, and bundles of which no item is left.

        Bounded per call; returns how many rows went. The age is 0 to 36,500 days.
        """
        ...

    @abstractmethod
    async def get_orphaned_orgs(self, rctx: RequestContext) -> frozenset[UUID]:
        """Return tenants that are gone and have items or bundles here, settled or not; without a principal.

        A tenant is gone when its org was deleted, or is not there at all. An org that is made during the call is
        never taken for gone.
        """
        ...

    @abstractmethod
    async def fail_orphaned(self, org_id: UUID) -> int:
        """Fail the unsettled items of a tenant that is gone; return how many. Bounded per call; without a principal.

        They are no dead letters: nobody is left who could retry them, so none is counted or named in the audit.
        """
        ...

    @abstractmethod
    async def purge_orphaned(self, org_id: UUID, older_than: timedelta) -> int:
        """Remove a gone tenant's items settled longer ago than that, and its bundles without items; return how many.

        Bounded per call; without a principal, since there is nobody left who could be one. The age is 0 to 36,500 days.
        """
        ...

    @abstractmethod
    async def read_gauges(self, rctx: RequestContext) -> WorkGauges:
        """Return the whole queue's numbers, across tenants; an operation without a principal."""
        ...

    @abstractmethod
    async def read_held_back(self, rctx: RequestContext) -> WorkHeldBack:
        """Return how many due items are held back, by reason, across tenants; an operation without a principal."""
        ...


class WorkManagerInterface(
    WorkEnqueueInterface,
    WorkHolderInterface,
    WorkOperatorInterface,
    WorkBundleInterface,
    WorkControlInterface,
    WorkScheduleInterface,
    WorkSweepInterface,
):
    """The work queue."""
