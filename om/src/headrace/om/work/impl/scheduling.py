"""Schedules: set up, looked at, fired."""

import logging
from datetime import datetime, timedelta
from typing import Final, override
from uuid import UUID

from headrace.om.base import utcnow
from headrace.om.context import OpContext, Permission, RequestContext
from headrace.om.encoding import refuse_unreadable_name, refuse_unstorable_instant, refuse_unstorable_text
from headrace.om.exceptions import Conflict, Unavailable, ValidationFailed
from headrace.om.paging import checked_limit
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.exceptions import WorkScheduleNameTaken, WorkScheduleNotFound
from headrace.om.work.impl.parts import WorkPart
from headrace.om.work.schedules import WorkScheduleInterface
from headrace.om.work.scheduling import due_ticks, item_of_tick, next_tick, overlap_hash, refuse_bad_timing
from headrace.om.work.stamping import fresh
from headrace.om.work.types.schedule import DueSchedule, Firing, WorkSchedule
from headrace.om.work.types.work_item import WorkItem

logger = logging.getLogger(__name__)

UNREADABLE_REST: Final = timedelta(minutes=1)
"""How long a schedule rests whose timing this release cannot read; a worker that can may fire it then."""


class WorkScheduleImpl(WorkPart, WorkScheduleInterface):
    """The queue for work that comes again and again."""

    @override
    async def create_schedule(self, ctx: OpContext, schedule: WorkSchedule) -> WorkSchedule:
        ctx.require(Permission.WORK_OPERATE)
        written = await self._stamped(ctx, schedule)
        outcome = await self._storage.create_schedule(ctx.org_id, written)
        if outcome is InsertOutcome.KEY_EXISTS:
            raise _name_taken(schedule)
        if outcome is InsertOutcome.ID_EXISTS:
            return await self._known_schedule(ctx, schedule.id)
        return written

    @override
    async def change_schedule(self, ctx: OpContext, schedule: WorkSchedule) -> WorkSchedule:
        ctx.require(Permission.WORK_OPERATE)
        there = await self._known_schedule(ctx, schedule.id)
        is_stop = not schedule.is_enabled and _asked(schedule) == _asked(there)
        ready = _written(ctx, schedule, None) if is_stop else await self._stamped(ctx, schedule)
        try:
            written = await self._storage.write_schedule(ctx.org_id, ready)
        except Conflict:
            raise _name_taken(schedule) from None
        if written is None:
            raise _not_found(schedule.id)
        return written

    @override
    async def get_schedule(self, ctx: OpContext, schedule_id: UUID) -> WorkSchedule:
        ctx.require(Permission.WORK_READ)
        return await self._known_schedule(ctx, schedule_id)

    @override
    async def get_schedules(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[WorkSchedule, ...]:
        ctx.require(Permission.WORK_READ)
        return await self._storage.read_schedules(ctx.org_id, checked_limit(limit), after)

    @override
    async def delete_schedule(self, ctx: OpContext, schedule_id: UUID) -> None:
        ctx.require(Permission.WORK_OPERATE)
        if not await self._storage.delete_schedule(ctx.org_id, schedule_id):
            raise _not_found(schedule_id)

    @override
    async def fire_schedules(self, rctx: RequestContext, limit: int) -> int:
        due = await self._storage.read_due_schedules(checked_limit(limit))
        if not due:
            return 0
        working = {ctx.org_id for ctx in await self._tenancy.service_contexts(rctx, {each.org_id for each in due})}
        num_enqueued = 0
        errors: list[Exception] = []
        for each in due:
            try:
                num_enqueued += await self._fire(each, works=each.org_id in working)
            except Exception as error:  # noqa: BLE001 - one schedule must not keep the others from being fired
                error.add_note(f"schedule {each.schedule.id} of org {each.org_id}")
                errors.append(error)
        if errors:
            raise ExceptionGroup(f"{len(errors)} schedules could not be fired", errors)
        return num_enqueued

    @override
    async def time_to_next_tick(self, rctx: RequestContext) -> timedelta | None:
        return await self._storage.read_next_tick()

    async def _fire(self, due: DueSchedule, *, works: bool) -> int:
        firing = _firing(due, self._tick_limit, works=works)
        fired = await self._storage.fire_schedule(due.org_id, firing)
        new = [item for item in firing.items if item.id in fired.item_ids]
        # They are due on the storage's clock: this process's own is not asked.
        self._wake(item.lane for item in new)
        if fired.is_current and firing.last_error is not None:
            schedule = due.schedule
            logger.warning("schedule %r of org %s fires nothing: %s", schedule.name, due.org_id, firing.last_error)
        return len(new)

    async def _stamped(self, ctx: OpContext, schedule: WorkSchedule) -> WorkSchedule:
        """Return the schedule as it is written: its own fields fresh, waiting for its first tick after now.

        Raises:
            ValidationFailed: It does not fit; the sentence names the field.
        """
        now = await self._storage.read_clock()
        _refuse_unstorable(schedule)
        refuse_bad_timing(schedule, now)
        fresh(item_of_tick(schedule, now))
        return _written(ctx, schedule, next_tick(schedule, now) if schedule.is_enabled else None)

    async def _known_schedule(self, ctx: OpContext, schedule_id: UUID) -> WorkSchedule:
        if (schedule := await self._storage.read_schedule(ctx.org_id, schedule_id)) is None:
            raise _not_found(schedule_id)
        return schedule


def _written(ctx: OpContext, schedule: WorkSchedule, next_fire_at: datetime | None) -> WorkSchedule:
    own = {
        "created_by": ctx.user_id,
        "updated_by": ctx.user_id,
        "updated_at": utcnow(),
        "next_fire_at": next_fire_at,
        "last_fired_at": None,
        "last_error": None,
    }
    return schedule.model_copy(update=own)


def _asked(schedule: WorkSchedule) -> dict[str, object]:
    """Return what a caller says of the schedule but whether it is enabled."""
    return schedule.model_dump(exclude={*WorkSchedule.MANAGER_OWNED_FIELDS, "is_enabled"})


def _firing(due: DueSchedule, limit: int, *, works: bool) -> Firing:
    """Return what becomes of a schedule whose tick has come."""
    schedule = due.schedule
    if schedule.next_fire_at is None:
        raise Unavailable(f"schedule {schedule.id} is due and waits for no tick")
    waited = {"schedule_id": schedule.id, "expected_at": schedule.next_fire_at}
    try:
        ticks = due_ticks(schedule, due.now, limit)
    except ValidationFailed as error:
        return Firing.model_validate(waited | {"next_fire_at": due.now + UNREADABLE_REST, "last_error": str(error)})
    moved_on = Firing.model_validate(waited | {"next_fire_at": ticks.next_fire_at})
    if not works:
        return moved_on.model_copy(update={"last_error": "the org does not work now, so nothing was enqueued"})
    try:
        items = tuple(_item_of(schedule, tick) for tick in ticks.ticks)
    except ValidationFailed as error:
        return moved_on.model_copy(update={"last_error": str(error)})
    return moved_on.model_copy(update={"items": items, "last_fired_at": max(ticks.ticks, default=None)})


def _item_of(schedule: WorkSchedule, tick: datetime) -> WorkItem:
    return fresh(item_of_tick(schedule, tick), unique_hash=overlap_hash(schedule))


def _refuse_unstorable(schedule: WorkSchedule) -> None:
    refuse_unreadable_name("name", schedule.name)
    for field in ("lane", "cron", "time_zone"):
        if (text := getattr(schedule, field)) is not None:
            refuse_unstorable_text(field, text)
    for field in ("anchor_at", "created_at"):
        if (instant := getattr(schedule, field)) is not None:
            refuse_unstorable_instant(field, instant)


def _not_found(schedule_id: UUID) -> WorkScheduleNotFound:
    return WorkScheduleNotFound(f"no schedule {schedule_id} in this org")


def _name_taken(schedule: WorkSchedule) -> WorkScheduleNameTaken:
    return WorkScheduleNameTaken(f"name: expected one that no other schedule of this org has, got {schedule.name!r}")
