"""What the queue promises about schedules, to who sets them up and to who fires them."""

from abc import ABC, abstractmethod
from datetime import timedelta
from uuid import UUID

from headrace.om.context import OpContext, RequestContext
from headrace.om.work.types.schedule import WorkSchedule


class WorkScheduleInterface(ABC):
    """Work that becomes due again and again.

    Reading needs permission WORK_READ, everything else WORK_OPERATE, else `NotAuthorized` and nothing is changed.
    """

    @abstractmethod
    async def create_schedule(self, ctx: OpContext, schedule: WorkSchedule) -> WorkSchedule:
        """Set up a schedule; its first tick is the first one after now. Return it as it was written.

        Safe to call again: one whose id is there already is read back untouched.

        Args:
            ctx: Whose tenant, and who is named as having asked for each item.
            schedule: Fields in `WorkSchedule.MANAGER_OWNED_FIELDS` are overwritten.

        Raises:
            ValidationFailed: A field, the payload or the timing does not fit; nothing was written.
            WorkScheduleNameTaken: The tenant has another schedule of that name; nothing was written.
        """
        ...

    @abstractmethod
    async def change_schedule(self, ctx: OpContext, schedule: WorkSchedule) -> WorkSchedule:
        """Put the schedule in place of the one of its id; return it as it was written.

        A changed timing, and one that is enabled again, begins with the first tick after now: no tick of the time
        before is made up for. Otherwise the tick that is waited for stays. To disable one and change nothing else is
        always possible, even where this release cannot read what the schedule says.

        Raises:
            WorkScheduleNotFound: There is none of that id; nothing was written.
            ValidationFailed, WorkScheduleNameTaken: As for `create_schedule`.
        """
        ...

    @abstractmethod
    async def get_schedule(self, ctx: OpContext, schedule_id: UUID) -> WorkSchedule:
        """Return a schedule.

        Raises:
            WorkScheduleNotFound: There is none of that id.
        """
        ...

    @abstractmethod
    async def get_schedules(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[WorkSchedule, ...]:
        """Return schedules, newest first, from below `after` on, at most `limit` (1-1000)."""
        ...

    @abstractmethod
    async def delete_schedule(self, ctx: OpContext, schedule_id: UUID) -> None:
        """Remove a schedule; items that it has enqueued stay.

        Raises:
            WorkScheduleNotFound: There is none of that id.
        """
        ...

    @abstractmethod
    async def fire_schedules(self, rctx: RequestContext, limit: int) -> int:
        """Enqueue the items of ticks that have come, across tenants; return how many went in.

        Safe from any number of processes at once: a tick becomes one item, and none comes before its time on the
        storage's clock, whatever the process's own clock says. A schedule whose item is refused says why in
        `last_error`, goes on to its next tick and holds up no other. One of an org that does not work now (suspended,
        deleted) goes on without an item. An operation without a principal.

        Args:
            rctx: The pass.
            limit: Schedules looked at, those that have waited longest; 1-1000.

        Raises:
            ExceptionGroup: What failed, after every other schedule had its turn; what failed is due still.
        """
        ...

    @abstractmethod
    async def time_to_next_tick(self, rctx: RequestContext) -> timedelta | None:
        """Return how long until the next tick of any schedule, zero where one is due; None where none will come.

        An operation without a principal.
        """
        ...
