"""The arithmetic of schedules: which ticks a timing has, which of them are due, and the items that they become.

Pure: every instant is handed in. A cron expression goes by the clock on the wall of its time zone, as Debian's cron
does. Where a change of the clock leaves a time out, a tick at that time comes right after the gap; where a time comes
twice, a tick at a fixed minute and hour comes the first time only. An expression whose minute or hour begins with `*`
goes by elapsed time instead, and has a tick for each hour that passes, repeated ones too.

Source: crontab(5) and cron(8) of Debian; the `cronsim` package follows them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Final
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from headrace.om.exceptions import ValidationFailed
from headrace.om.work.types.schedule import MissedTicks, Overlap, WorkSchedule
from headrace.om.work.types.work_item import WorkItem

DEFAULT_TICK_LIMIT: Final = 100
"""Ticks of one schedule that one pass enqueues: what an outage leaves comes back as a burst of no more than this."""

NUM_CRON_FIELDS: Final = 5
FIRST_WINDOW: Final = timedelta(minutes=1)
WINDOW_GROWTH: Final = 4
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT: Final = timedelta.resolution
KEY_PREFIX: Final = "schedule:"
"""What the key of every tick's item begins with, and no caller's own."""


@dataclass(frozen=True, slots=True)
class DueTicks:
    """What is to be done about a schedule whose tick has come.

    Attributes:
        ticks: Whose items are to be enqueued, in the order of time.
        next_fire_at: The tick to wait for then; None where none will come.
    """

    ticks: tuple[datetime, ...]
    next_fire_at: datetime | None


def refuse_bad_timing(schedule: WorkSchedule, now: datetime) -> None:
    """Return when the schedule's timing can be read and comes due some time after now.

    Raises:
        ValidationFailed: It is not, or never again; the sentence names the field.
    """
    if schedule.cron is None:
        return
    _zone(schedule)
    if len(schedule.cron.split()) != NUM_CRON_FIELDS:
        raise ValidationFailed("cron", f"five fields, minute to day of week, got {schedule.cron!r}")
    try:
        CronSim(schedule.cron, now)
    except CronSimError as error:
        reason = str(error).replace("Bad", "there is a bad")
        raise ValidationFailed("cron", f"a cron expression, got {schedule.cron!r} ({reason})") from None
    if next_tick(schedule, now) is None:
        raise ValidationFailed("cron", f"an expression that comes due some day, got {schedule.cron!r}")


def next_tick(schedule: WorkSchedule, after: datetime) -> datetime | None:
    """Return the first tick later than an instant, in UTC; None where none will come, as for a 30th of February."""
    return next(_ticks_after(schedule, after), None)


def due_ticks(schedule: WorkSchedule, now: datetime, limit: int) -> DueTicks:
    """Return which ticks become items now, and which one is waited for next.

    A tick is due from its instant on, never earlier. Those no older than `missed_after` are on time and all become
    items; what becomes of older ones is the schedule's to say. Of too many the latest stay.

    Args:
        schedule: With the tick that it waits for.
        now: On the storage's clock.
        limit: Ticks that become items at most; 1 or more.
    """
    first = schedule.next_fire_at
    if first is None or first > now:
        return DueTicks((), first)
    on_time_from = max(first, now - schedule.missed_after)
    on_time = _latest_ticks(schedule, on_time_from, now, limit)
    missed = _latest_ticks(schedule, first, on_time_from - MOMENT, _num_made_up(schedule.missed, limit - len(on_time)))
    return DueTicks((*missed, *on_time), next_tick(schedule, now))


def item_of_tick(schedule: WorkSchedule, tick: datetime) -> WorkItem:
    """Return the item that a tick becomes, under a key that belongs to the tick: two firings leave one item."""
    asked = {
        "kind": schedule.kind,
        "payload": schedule.payload,
        "lane": schedule.lane,
        "priority": schedule.priority,
        "origin": f"schedule:{schedule.name}",
        "idempotency_key": tick_key(schedule.id, tick),
        "available_at": tick,
        "created_by": schedule.updated_by,
        "updated_by": schedule.updated_by,
    }
    if schedule.max_attempts is not None:
        asked["max_attempts"] = schedule.max_attempts
    return WorkItem.model_validate(asked)


def overlap_hash(schedule: WorkSchedule) -> UUID | None:
    """Return what a schedule's items are unique for while they have not settled; None where they may overlap."""
    return uuid5(schedule.id, "overlap") if schedule.overlap is Overlap.SKIP else None


def tick_key(schedule_id: UUID, tick: datetime) -> str:
    """Return the idempotency key of a tick's item."""
    return f"{KEY_PREFIX}{schedule_id}:{tick.astimezone(UTC).isoformat()}"


def tick_of(item: WorkItem) -> datetime | None:
    """Return the nominal time of the tick that became the item, for its handler; None where no schedule made it."""
    key = item.idempotency_key or ""
    schedule_id, _, nominal = key.removeprefix(KEY_PREFIX).partition(":")
    try:
        tick = datetime.fromisoformat(nominal)
        return tick if key == tick_key(UUID(schedule_id), tick) else None
    except ValueError:
        return None


def _num_made_up(missed: MissedTicks, room: int) -> int:
    return {MissedTicks.SKIP: 0, MissedTicks.ONE: min(1, room), MissedTicks.ALL: room}[missed]


def _latest_ticks(schedule: WorkSchedule, first: datetime, last: datetime, limit: int) -> tuple[datetime, ...]:
    """Return the ticks from one instant to another, both included, the latest where there are more than the limit.

    Looks back in windows that grow, so that an outage of a year costs little more than one of a minute.
    """
    if limit < 1 or first > last:
        return ()
    window = FIRST_WINDOW
    while True:
        begin = max(first, last - window)
        ticks = tuple(takewhile(lambda tick: tick <= last, _ticks_after(schedule, begin - MOMENT)))
        if begin == first or len(ticks) >= limit:
            return ticks[-limit:]
        window *= WINDOW_GROWTH


def _ticks_after(schedule: WorkSchedule, after: datetime) -> Iterator[datetime]:
    """Yield the ticks later than an instant, each later than the one before."""
    return _cron_ticks(schedule, schedule.cron, after) if schedule.cron else _interval_ticks(schedule, after)


def _interval_ticks(schedule: WorkSchedule, after: datetime) -> Iterator[datetime]:
    every, anchor = schedule.every or timedelta.max, (schedule.anchor_at or EPOCH).astimezone(UTC)
    tick = anchor + ((after - anchor) // every + 1) * every
    while True:
        yield tick
        tick += every


def _cron_ticks(schedule: WorkSchedule, cron: str, after: datetime) -> Iterator[datetime]:
    """Yield ticks in UTC; those that a change of the clock moves onto, or before, an earlier one count as that one."""
    last = after
    for local in CronSim(cron, after.astimezone(_zone(schedule))):
        tick = local.astimezone(UTC)
        if tick > last:
            last = tick
            yield tick


def _zone(schedule: WorkSchedule) -> ZoneInfo:
    try:
        return ZoneInfo(schedule.time_zone)
    # The key is a path to the library: one that is none of its own may name a directory.
    except (KeyError, ValueError, OSError):
        raise ValidationFailed(
            "time_zone", f"an IANA time zone such as Europe/Vienna, got {schedule.time_zone!r}"
        ) from None
