"""How schedules look."""

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from headrace.workers.console.cli.screen import Fields, Rows
from headrace.workers.console.views.values import (
    first_line,
    seconds_of,
    shown_duration,
    shown_instant,
    shown_json,
    shown_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.om.work.types.schedule import WorkSchedule

COLUMNS: Final = ("NAME", "KIND", "WHEN", "ENABLED", "NEXT", "LAST", "ERROR", "ID")
DURATIONS: Final = ("every", "missed_after")
INSTANTS: Final = ("anchor_at", "next_fire_at", "last_fired_at", "created_at", "updated_at")


def schedule_document(schedule: "WorkSchedule") -> dict[str, Any]:
    """Return a schedule as a document."""
    durations = {name: seconds_of(getattr(schedule, name)) for name in DURATIONS}
    return schedule.model_dump(mode="json") | durations


def schedules_document(schedules: "Sequence[WorkSchedule]", next_id: UUID | None) -> dict[str, Any]:
    """Return a page of schedules as a document."""
    page = [schedule_document(each) for each in schedules]
    return {"schedules": page, "next": None if next_id is None else str(next_id)}


def schedules_rows(schedules: "Sequence[WorkSchedule]") -> Rows:
    """Return a page of schedules as a table."""
    return Rows(COLUMNS, [_row(each) for each in schedules], empty="there is no schedule")


def schedule_fields(schedule: "WorkSchedule") -> Fields:
    """Return all that is known of a schedule."""
    document = schedule_document(schedule)
    special = {name: shown_instant(getattr(schedule, name)) for name in INSTANTS}
    special |= {name: shown_duration(getattr(schedule, name)) for name in DURATIONS}
    special["payload"] = shown_json(document["payload"])
    return Fields([(name, special.get(name) or shown_text(document[name])) for name in document])


def timing_of(schedule: "WorkSchedule") -> str:
    """Return when a schedule has ticks, in a few words."""
    if schedule.cron is not None:
        return f"{schedule.cron} {schedule.time_zone}"
    return f"every {shown_duration(schedule.every)}"


def _row(schedule: "WorkSchedule") -> tuple[str, ...]:
    return (
        schedule.name,
        schedule.kind,
        timing_of(schedule),
        "yes" if schedule.is_enabled else "no",
        shown_instant(schedule.next_fire_at),
        shown_instant(schedule.last_fired_at),
        first_line(schedule.last_error),
        str(schedule.id),
    )
