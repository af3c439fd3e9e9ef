"""Schedules: looking, setting up, changing, removing."""

from typing import Final
from uuid import UUID

from headrace.om.exceptions import Unavailable
from headrace.om.paging import MAX_PAGE
from headrace.om.work.exceptions import WorkScheduleNotFound
from headrace.om.work.types.schedule import WorkSchedule
from headrace.workers.console.actions.session import Session

MAX_PAGES: Final = 100
"""How many pages are looked through for a name."""


async def get_schedules(
    session: Session, limit: int, after: UUID | None
) -> tuple[tuple[WorkSchedule, ...], UUID | None]:
    """Return a page of schedules, newest first, and after which id the next one begins; None where this is the last."""
    schedules = await session.managers.work.get_schedules(session.ctx, limit, after)
    return schedules, schedules[-1].id if len(schedules) == limit else None


async def find(session: Session, name_or_id: str) -> WorkSchedule:
    """Return the schedule of a name or an id.

    Raises:
        WorkScheduleNotFound: The org has none.
    """
    try:
        return await session.managers.work.get_schedule(session.ctx, UUID(name_or_id))
    except (ValueError, WorkScheduleNotFound):
        # A name may look like an id.
        return await _named(session, name_or_id)


async def add(session: Session, schedule: WorkSchedule) -> WorkSchedule:
    """Set up a schedule."""
    return await session.managers.work.create_schedule(session.ctx, schedule)


async def enable(session: Session, name_or_id: str, *, is_enabled: bool) -> WorkSchedule:
    """Enable or disable a schedule."""
    there = await find(session, name_or_id)
    return await session.managers.work.change_schedule(session.ctx, there.with_changes(is_enabled=is_enabled))


async def remove(session: Session, name_or_id: str) -> WorkSchedule:
    """Remove a schedule; return what it was."""
    there = await find(session, name_or_id)
    await session.managers.work.delete_schedule(session.ctx, there.id)
    return there


async def _named(session: Session, name: str) -> WorkSchedule:
    after: UUID | None = None
    for _ in range(MAX_PAGES):
        page, after = await get_schedules(session, MAX_PAGE, after)
        if found := next((each for each in page if each.name == name), None):
            return found
        if after is None:
            raise WorkScheduleNotFound(f"no schedule {name!r} in this org; `headrace schedules list` shows them")
    raise Unavailable(f"the org has more than {MAX_PAGES * MAX_PAGE} schedules: name this one by its id")
