"""Schedules over PostgreSQL: each method one statement."""

from datetime import datetime, timedelta
from typing import Any, override
from uuid import UUID

from headrace.om.encoding import encode_json
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage.impl import schedule_statements as sql
from headrace.om.work.storage.impl.item_columns import insert_columns
from headrace.om.work.storage.impl.postgres_base import CONTROL, WorkPostgresPart
from headrace.om.work.storage.impl.rows import schedule_of
from headrace.om.work.storage.schedules import WorkScheduleStorageInterface
from headrace.om.work.types.schedule import DueSchedule, Fired, Firing, WorkSchedule
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES


class WorkSchedulesPostgres(WorkPostgresPart, WorkScheduleStorageInterface):
    """Who sets schedules up takes the main connections; what fires them has the sweep's."""

    @override
    async def create_schedule(self, org_id: UUID, schedule: WorkSchedule) -> InsertOutcome:
        provenance = (schedule.created_at, schedule.created_by, schedule.updated_at, schedule.updated_by)
        if await self._rows(sql.CREATE_SCHEDULE, org_id, *_values(schedule), *provenance):
            return InsertOutcome.INSERTED
        there = await self.read_schedule(org_id, schedule.id)
        return InsertOutcome.KEY_EXISTS if there is None else InsertOutcome.ID_EXISTS

    @override
    async def write_schedule(self, org_id: UUID, schedule: WorkSchedule) -> WorkSchedule | None:
        provenance = (schedule.updated_at, schedule.updated_by)
        rows = await self._rows(sql.WRITE_SCHEDULE, org_id, *_values(schedule), *provenance)
        return schedule_of(rows[0]) if rows else None

    @override
    async def read_schedule(self, org_id: UUID, schedule_id: UUID) -> WorkSchedule | None:
        rows = await self._rows(sql.READ_SCHEDULE, org_id, schedule_id)
        return schedule_of(rows[0]) if rows else None

    @override
    async def read_schedules(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[WorkSchedule, ...]:
        return tuple(schedule_of(row) for row in await self._rows(sql.READ_SCHEDULES, org_id, after, limit))

    @override
    async def delete_schedule(self, org_id: UUID, schedule_id: UUID) -> bool:
        return bool(await self._rows(sql.DELETE_SCHEDULE, org_id, schedule_id))

    @override
    async def delete_schedules(self, org_id: UUID, limit: int) -> int:
        return len(await self._rows(sql.DELETE_SCHEDULES, org_id, limit, purpose=CONTROL))

    @override
    async def fire_schedule(self, org_id: UUID, firing: Firing) -> Fired:
        moved = (firing.expected_at, firing.next_fire_at, firing.last_fired_at, firing.last_error)
        columns = insert_columns(firing.items, fair_share=self._fair_share)
        (row,) = await self._rows(sql.FIRE_SCHEDULE, org_id, firing.schedule_id, *moved, *columns, purpose=CONTROL)
        return Fired(is_current=row["is_current"], item_ids=frozenset(row["item_ids"]))

    @override
    async def read_due_schedules(self, limit: int) -> tuple[DueSchedule, ...]:
        rows = await self._rows_across(sql.READ_DUE_SCHEDULES, limit)
        return tuple(
            DueSchedule.trusted({"org_id": row["org_id"], "schedule": schedule_of(row), "now": row["now"]})
            for row in rows
        )

    @override
    async def read_next_tick(self) -> timedelta | None:
        rows = await self._rows_across(sql.READ_NEXT_TICK)
        left: timedelta | None = rows[0]["left_over"] if rows else None
        return left

    @override
    async def read_clock(self) -> datetime:
        (row,) = await self._rows_across(sql.READ_CLOCK)
        now: datetime = row["now"]
        return now


def _values(schedule: WorkSchedule) -> tuple[Any, ...]:
    """Return what `CREATE_SCHEDULE` and `WRITE_SCHEDULE` take after the tenant and before who wrote it."""
    payload = encode_json("payload", schedule.payload, limit_bytes=MAX_PAYLOAD_BYTES)
    what = (schedule.kind.value, payload, schedule.lane, schedule.priority, schedule.max_attempts)
    when = (schedule.cron, schedule.time_zone, schedule.every, schedule.anchor_at)
    how = (schedule.missed.value, schedule.missed_after, schedule.overlap.value, schedule.is_enabled)
    return (schedule.id, schedule.name, *what, *when, *how, schedule.next_fire_at)
