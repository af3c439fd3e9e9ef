"""What schedules ask of the queue's storage."""

from abc import ABC, abstractmethod
from datetime import datetime, timedelta
from uuid import UUID

from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.types.schedule import DueSchedule, Fired, Firing, WorkSchedule


class WorkScheduleStorageInterface(ABC):
    """Schedules of tenants, and the clock that they go by."""

    @abstractmethod
    async def create_schedule(self, org_id: UUID, schedule: WorkSchedule) -> InsertOutcome:
        """Insert the schedule, or report that its id or its name is there; touches no existing row."""
        ...

    @abstractmethod
    async def write_schedule(self, org_id: UUID, schedule: WorkSchedule) -> WorkSchedule | None:
        """Put it in place of the one of its id and return what was written; None: no such schedule.

        The tick that is waited for stays while timing and `is_enabled` say what they said; else it is the one given.
        What was fired last stays, and who created it; an error is forgotten.

        Raises:
            Conflict: Another schedule of the tenant has the name; nothing was written.
        """
        ...

    @abstractmethod
    async def read_schedule(self, org_id: UUID, schedule_id: UUID) -> WorkSchedule | None:
        """Return the schedule, or None where the tenant has none of that id."""
        ...

    @abstractmethod
    async def read_schedules(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[WorkSchedule, ...]:
        """Return schedules by id, newest first, from below `after` on, at most `limit`."""
        ...

    @abstractmethod
    async def delete_schedule(self, org_id: UUID, schedule_id: UUID) -> bool:
        """Remove the schedule; False: no such one. Items stay."""
        ...

    @abstractmethod
    async def delete_schedules(self, org_id: UUID, limit: int) -> int:
        """Remove a tenant's schedules, at most `limit`; return how many."""
        ...

    @abstractmethod
    async def fire_schedule(self, org_id: UUID, firing: Firing) -> Fired:
        """Move the schedule on and insert the items, both or neither, if it still waits for the expected tick.

        An item whose key or uniqueness is there is left out and fails nothing.
        """
        ...

    @abstractmethod
    async def read_due_schedules(self, limit: int) -> tuple[DueSchedule, ...]:
        """Return schedules whose tick has come on the storage's clock, those that wait longest first.

        Takes no tenant: a pass goes over all of them, and each row names its own.
        """
        ...

    @abstractmethod
    async def read_next_tick(self) -> timedelta | None:
        """Return how long until the earliest tick that is waited for, zero where it has come; None where there is none.

        Takes no tenant: the answer names none.
        """
        ...

    @abstractmethod
    async def read_clock(self) -> datetime:
        """Return the storage's present instant.

        Takes no tenant: it reads no row.
        """
        ...
