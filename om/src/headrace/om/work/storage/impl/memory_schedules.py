"""Schedules over memory."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, override
from uuid import UUID

from headrace.om.exceptions import Conflict
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage.impl.memory_items import WorkMemoryPart
from headrace.om.work.storage.impl.memory_table import newest_first, owned
from headrace.om.work.storage.impl.schedule_statements import TIMING
from headrace.om.work.storage.schedules import WorkScheduleStorageInterface
from headrace.om.work.types.schedule import DueSchedule, Fired, Firing, WorkSchedule


class WorkSchedulesMemory(WorkMemoryPart, WorkScheduleStorageInterface):
    """Every method is one critical section, as a statement is."""

    @override
    async def create_schedule(self, org_id: UUID, schedule: WorkSchedule) -> InsertOutcome:
        async with self._lock:
            if (org_id, schedule.id) in self._table.schedules:
                return InsertOutcome.ID_EXISTS
            if self._has_other_of_name(org_id, schedule):
                return InsertOutcome.KEY_EXISTS
            self._table.schedules[org_id, schedule.id] = schedule
            return InsertOutcome.INSERTED

    @override
    async def write_schedule(self, org_id: UUID, schedule: WorkSchedule) -> WorkSchedule | None:
        async with self._lock:
            there = self._table.schedules.get((org_id, schedule.id))
            if there is None:
                return None
            if self._has_other_of_name(org_id, schedule):
                raise Conflict(f"a schedule {schedule.name!r} is there already")
            written = schedule.model_copy(update=_kept(there, schedule))
            self._table.schedules[org_id, schedule.id] = written
            return written

    @override
    async def read_schedule(self, org_id: UUID, schedule_id: UUID) -> WorkSchedule | None:
        return self._table.schedules.get((org_id, schedule_id))

    @override
    async def read_schedules(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[WorkSchedule, ...]:
        return tuple(newest_first(owned(self._table.schedules, org_id), after)[:limit])

    @override
    async def delete_schedule(self, org_id: UUID, schedule_id: UUID) -> bool:
        async with self._lock:
            return self._table.schedules.pop((org_id, schedule_id), None) is not None

    @override
    async def delete_schedules(self, org_id: UUID, limit: int) -> int:
        async with self._lock:
            gone = sorted(schedule.id for schedule in owned(self._table.schedules, org_id))[:limit]
            for schedule_id in gone:
                del self._table.schedules[org_id, schedule_id]
            return len(gone)

    @override
    async def fire_schedule(self, org_id: UUID, firing: Firing) -> Fired:
        async with self._lock:
            there = self._table.schedules.get((org_id, firing.schedule_id))
            expected = firing.expected_at
            if there is None or there.next_fire_at != expected or expected > self._clock():
                return Fired(is_current=False)
            moved = {
                "next_fire_at": firing.next_fire_at,
                "last_fired_at": firing.last_fired_at or there.last_fired_at,
                "last_error": firing.last_error,
            }
            self._table.schedules[org_id, there.id] = there.model_copy(update=moved)
            created = [self._table.insert(org_id, item) for item in firing.items]
            new = (each.item_id for each in created if each.outcome is InsertOutcome.INSERTED)
            return Fired(is_current=True, item_ids=frozenset(new))

    @override
    async def read_due_schedules(self, limit: int) -> tuple[DueSchedule, ...]:
        now = self._clock()
        due = [(at, org, each) for at, org, each in self._awaited() if at <= now]
        due.sort(key=lambda found: (found[0], found[2].id))
        return tuple(DueSchedule(org_id=org, schedule=schedule, now=now) for _, org, schedule in due[:limit])

    @override
    async def read_next_tick(self) -> timedelta | None:
        earliest = min((at for at, _, _ in self._awaited()), default=None)
        return None if earliest is None else max(earliest - self._clock(), timedelta(0))

    @override
    async def read_clock(self) -> datetime:
        return self._clock()

    def _awaited(self) -> list[tuple[datetime, UUID, WorkSchedule]]:
        rows = self._table.schedules.items()
        return [(each.next_fire_at, org_id, each) for (org_id, _), each in rows if each.next_fire_at is not None]

    def _has_other_of_name(self, org_id: UUID, schedule: WorkSchedule) -> bool:
        return any(
            each.name == schedule.name and each.id != schedule.id for each in owned(self._table.schedules, org_id)
        )


def _kept(there: WorkSchedule, schedule: WorkSchedule) -> Mapping[str, Any]:
    """Return what a change of a schedule leaves as it is."""
    kept = {"created_at": there.created_at, "created_by": there.created_by, "last_fired_at": there.last_fired_at}
    if all(getattr(there, name) == getattr(schedule, name) for name in TIMING):
        kept["next_fire_at"] = there.next_fire_at
    return kept | {"last_error": None}
