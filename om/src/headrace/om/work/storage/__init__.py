"""What the queue asks of its storage, by reader; each method is one statement or one short unit."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage.schedules import WorkScheduleStorageInterface
from headrace.om.work.types.bundle import BundleFilter, WorkBundle
from headrace.om.work.types.control import WorkControl, WorkControls
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import (
    ClaimedRow,
    CreatedBundle,
    CreatedItem,
    RetriedItem,
    WorkFilter,
    WorkGauges,
    WorkHeldBack,
    WorkStatusReport,
)
from headrace.om.work.types.settlement import Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import WorkItem


class WorkItemStorageInterface(ABC):
    """Rows of one tenant."""

    @abstractmethod
    async def create_item(self, org_id: UUID, item: WorkItem) -> InsertOutcome:
        """Insert the item, or report that its id, its key or its uniqueness is there; touches no existing row."""
        ...

    @abstractmethod
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        """Insert many in one statement; report each, in the given order.

        Of two with one key, or that agree in what they are unique for, the first stays. What an item is unique for
        is taken only by items that have not settled.

        Args:
            org_id: The tenant.
            items: No two with the same id.
        """
        ...

    @abstractmethod
    async def read_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        """Return the item, or None where the tenant has none of that id."""
        ...

    @abstractmethod
    async def read_item_by_key(self, org_id: UUID, idempotency_key: str) -> WorkItem | None:
        """Return the item with the key, or None where the tenant has none."""
        ...

    @abstractmethod
    async def read_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        """Return items by id, newest first, from below `after` on, at most `limit`."""
        ...

    @abstractmethod
    async def read_status(self, org_id: UUID) -> WorkStatusReport:
        """Return counts by status, kind and lane, the wait of the oldest due item, and how many bundles there are."""
        ...

    @abstractmethod
    async def cancel_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        """Cancel a queued item, or flag a claimed one; return it. None: no such item, or settled.

        One that ends here counts in its bundle.
        """
        ...

    @abstractmethod
    async def cancel_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        """Cancel or flag unsettled items as `cancel_item` does; return them, newest first, from below `after` on."""
        ...

    @abstractmethod
    async def retry_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        """Queue a settled item again as if new; return it. Uncounts it in its bundle, which opens again.

        None: no such item, not settled, or an unsettled one agrees with it in what it is unique for.
        """
        ...

    @abstractmethod
    async def retry_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[RetriedItem, ...]:
        """Queue settled items again as `retry_item` does: newest first, from below `after` on, at most `limit`.

        One that may not be queued is reported and holds no other back; of two settled items that agree in what they
        are unique for one at most is queued.
        """
        ...

    @abstractmethod
    async def delete_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        """Remove an item that is not claimed; return it as it was. None: no such item, or claimed.

        One that had not settled counts as cancelled in its bundle.
        """
        ...

    @abstractmethod
    async def delete_items(self, org_id: UUID, where: WorkFilter, limit: int) -> int:
        """Remove settled items, oldest id first, at most `limit`; return how many. Their bundles' counts stay."""
        ...


class WorkClaimStorageInterface(ABC):
    """Claims and what their holders write; every write is conditional on the claim token."""

    @abstractmethod
    async def claim_next(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> ClaimedRow | None:
        """Take the next due item: mint its token and start its lease in the same statement.

        Takes no tenant: whose work is next is what it finds out. It runs under the system scope and
        returns the tenant with the row.
        """
        ...

    @abstractmethod
    async def claim_batch(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int
    ) -> tuple[ClaimedRow, ...]:
        """Take up to `limit` due items that nothing holds back, passing over rows that others are claiming.

        The claim goes round the tenants that have something due, beginning behind the one that it served last; each
        gets an equal share, and what is left over goes to whoever has more. Of one tenant the highest priority comes
        first, then the kind whose oldest item has been due longest, then the item that has been. Items enqueued
        with fair share off are taken together, as if one tenant had them all.

        Items with a key take turns within their tenant, whichever key has had none for longest being about as likely
        as any other: priority orders the items of one concurrency key, and ordering keys go by their own order. No
        item is taken beyond a limit or a rate, past the head of its ordering key, or out of a pause; and what is held
        back holds up nothing else. What is counted is live claims.

        The cost grows with the rows taken and, where something bounds claims, with what runs; not with settled,
        future or other lanes' and kinds' rows.

        Takes no tenant, for the same reason as `claim_next`; each row comes with its tenant.
        """
        ...

    @abstractmethod
    def is_bounded(self, lane: str) -> bool:
        """Return whether the last claim of this object in a lane met a limit, a rate, a pause or items with a key.

        So that an end that may let others in wakes the lane. From memory; takes no tenant, since a lane has none.
        """
        ...

    @abstractmethod
    async def write_item(self, org_id: UUID, settlement: Settlement) -> Settled:
        """Settle one claim of the tenant; reported as not recorded where the token no longer holds it."""
        ...

    @abstractmethod
    async def settle_batch(self, settlements: Sequence[tuple[UUID, Settlement]]) -> tuple[Settled, ...]:
        """Settle claims, each conditional on its own token; report each, in the given order.

        An item, its follow-ups and its bundle's counters are written together or not at all. Items without
        follow-ups and bundle are written by one statement, those with them by a second one. A settlement that was
        written before, by its own id, is reported as recorded, and nothing is written again.

        Takes no one tenant: a worker's claims belong to many, so each settlement comes with its tenant,
        and the statement matches tenant, id and token.
        """
        ...

    @abstractmethod
    async def extend_lease(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        """Renew one claim's lease from now on the database's clock; None where the token holds nothing."""
        ...

    @abstractmethod
    async def extend_leases(self, renewals: Sequence[tuple[UUID, Renewal]], lease: timedelta) -> tuple[Renewed, ...]:
        """Renew leases in one statement; return those that held.

        Takes no one tenant: a worker's claims belong to many, so each renewal comes with its tenant.
        """
        ...

    @abstractmethod
    async def write_progress(self, org_id: UUID, renewal: Renewal, progress: float, note: str) -> bool:
        """Record progress under the claim; False where the token holds nothing."""
        ...


class WorkSweepStorageInterface(ABC):
    """What the maintenance sweep does; bounded, idempotent, safe to run anywhere at once."""

    @abstractmethod
    async def requeue_stale(
        self, org_id: UUID, overdue: timedelta, limit: int, *, max_crashes: int
    ) -> tuple[WorkItem, ...]:
        """Take back the tenant's claims whose lease passed longer ago than `overdue`; return the items after it.

        One conditional statement: the lease is looked at again on the locked row. Counts a crash each;
        where each goes is `rules.stale_status`, when it is available again `rules.requeue_stagger`.
        """
        ...

    @abstractmethod
    async def read_stale_orgs(self, limit: int) -> tuple[UUID, ...]:
        """Return tenants that hold claims whose lease has passed, at most `limit`.

        Takes no tenant: which tenants need a sweep is what it finds out.
        """
        ...

    @abstractmethod
    async def read_orgs(self, limit: int, after: UUID | None = None) -> tuple[UUID, ...]:
        """Return tenants that have items or bundles: at most `limit`, in their order, beginning behind `after`.

        Takes no tenant: whose rows are here is what it finds out. The cost grows with the tenants returned, not
        with their rows.
        """
        ...

    @abstractmethod
    async def purge_items(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        """Remove the tenant's items settled longer ago than that, oldest first; return how many."""
        ...

    @abstractmethod
    async def fail_orphaned(self, org_id: UUID, limit: int) -> int:
        """Fail unsettled items of a tenant that is gone, whoever holds them; return how many."""
        ...

    @abstractmethod
    async def read_gauges(self) -> WorkGauges:
        """Return the whole queue's numbers.

        Takes no tenant: the numbers are about the platform, across every tenant, and name none.
        """
        ...


class WorkBundleStorageInterface(ABC):
    """Bundles of one tenant. Their counters move in whatever settles, retries or removes their items."""

    @abstractmethod
    async def create_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> CreatedBundle:
        """Insert the bundle and its items in one statement, all or nothing; touches no existing row.

        Args:
            org_id: The tenant.
            bundle: With `num_items` of its own items.
            items: One or more, each naming the bundle; no two with the same id, key or uniqueness.
        """
        ...

    @abstractmethod
    async def read_bundle(self, org_id: UUID, bundle_id: UUID) -> WorkBundle | None:
        """Return the bundle, or None where the tenant has none of that id."""
        ...

    @abstractmethod
    async def read_bundles(
        self, org_id: UUID, where: BundleFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkBundle, ...]:
        """Return bundles by id, newest first, from below `after` on, at most `limit`."""
        ...

    @abstractmethod
    async def delete_bundle(self, org_id: UUID, bundle_id: UUID) -> bool:
        """Remove the bundle with all of its items, settled or not; nothing follows it.

        False: no such bundle, or one of its items is claimed; nothing was removed.
        """
        ...

    @abstractmethod
    async def purge_bundles(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        """Remove bundles settled longer ago than that and of which no item is left, oldest first; return how many."""
        ...


class WorkControlStorageInterface(ABC):
    """What is said about claims. It is the platform's, so no method takes a tenant.

    Every claim that begins after a change was written goes by it.
    """

    @abstractmethod
    async def put_control(self, control: WorkControl, origin: str) -> None:
        """Say it, in place of what was said about the same subject before; a rate's bucket keeps what is in it.

        Takes no tenant: limits, rates and pauses are the platform's.

        Args:
            control: What is said.
            origin: Who asked, for operators; 1-100 characters.
        """
        ...

    @abstractmethod
    async def delete_control(self, control: WorkControl) -> bool:
        """Take back what is said about the control's subject, whatever its numbers; False: nothing was said.

        Takes no tenant, as `put_control`.
        """
        ...

    @abstractmethod
    async def read_controls(self) -> WorkControls:
        """Return everything that is said.

        Takes no tenant, as `put_control`.
        """
        ...

    @abstractmethod
    async def read_held_back(self) -> WorkHeldBack:
        """Return how many due items are held back, by reason.

        Looks at the due items where anything is said, and else at those with a key: for a sweep, not for a claim.
        Takes no tenant: the numbers are about the platform and name none.
        """
        ...


class WorkStorageInterface(
    WorkItemStorageInterface,
    WorkClaimStorageInterface,
    WorkSweepStorageInterface,
    WorkBundleStorageInterface,
    WorkControlStorageInterface,
    WorkScheduleStorageInterface,
):
    """The storage of the work queue."""
