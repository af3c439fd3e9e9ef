"""The schedule: which work becomes due again and again, when, and what becomes of ticks that nobody was there for."""

from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, Final, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from headrace.om.base import PROVENANCE_FIELDS, FrozenMapping, Identifiable, Platform, Trackable
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem

MIN_INTERVAL: Final = timedelta(seconds=1)
MAX_INTERVAL: Final = timedelta(days=3660)
MAX_LATENESS: Final = timedelta(days=7)


class MissedTicks(StrEnum):
    """What becomes of ticks that were found later than `missed_after`, since no worker was there."""

    SKIP = "skip"
    """They are left out."""
    ONE = "one"
    """The latest of them is made up for."""
    ALL = "all"
    """Each of them is made up for, the latest ones where there are more than one pass may enqueue."""


class Overlap(StrEnum):
    """What becomes of a tick while an item of an earlier one has not settled."""

    ALLOW = "allow"
    """Its item is enqueued all the same."""
    SKIP = "skip"
    """It is left out: of one schedule there is at most one unsettled item."""


class WorkSchedule(Identifiable, Trackable):
    """Work of one tenant that is enqueued at each tick of a timing: a cron expression in a time zone, or an interval.

    A caller says what is enqueued (`kind`, `payload`, `lane`, `priority`, `max_attempts`), when (`cron` and
    `time_zone`, or `every` and `anchor_at`), what becomes of ticks that come late or on top of each other, and
    whether the schedule is enabled. Everything else is the manager's.

    Source: the fields of a cron expression as in crontab(5), minute to day of week.
    """

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS | {
        "next_fire_at",
        "last_fired_at",
        "last_error",
    }

    name: str = Field(min_length=1, max_length=80, description="Unique per tenant")
    kind: WorkKind
    payload: FrozenMapping = Field(default_factory=FrozenMapping)
    lane: str = Field(default="default", min_length=1, max_length=100)
    priority: int = Field(default=0, ge=-32768, le=32767, description="Higher first")
    max_attempts: int | None = Field(default=None, ge=1, le=10_000, description="None: as an item of the kind has")
    cron: str | None = Field(default=None, max_length=200, description="Five fields, such as 30 6 * * 1")
    time_zone: str = Field(
        default="UTC", min_length=1, max_length=64, description="Whose clock cron goes by; an IANA name"
    )
    every: timedelta | None = Field(default=None, ge=MIN_INTERVAL, le=MAX_INTERVAL)
    anchor_at: AwareDatetime | None = Field(
        default=None, description="An instant that intervals are counted from, both ways; None: 1970-01-01T00:00Z"
    )
    missed: MissedTicks = MissedTicks.ONE
    missed_after: timedelta = Field(
        default=timedelta(minutes=1),
        ge=timedelta(seconds=1),
        le=MAX_LATENESS,
        description="A tick found later is missed",
    )
    overlap: Overlap = Overlap.ALLOW
    is_enabled: bool = True
    next_fire_at: AwareDatetime | None = Field(
        default=None, description="The tick that is waited for; None while disabled, or where none will come"
    )
    last_fired_at: AwareDatetime | None = Field(default=None, description="The last tick, enqueued or left out")
    last_error: str | None = Field(default=None, description="Why the last tick's item could not be enqueued")

    @model_validator(mode="after")
    def _has_one_timing(self) -> Self:
        if (self.cron is None) == (self.every is None):
            raise ValueError("cron, every: expected exactly one of them")
        if self.cron is None and self.time_zone != "UTC":
            raise ValueError("time_zone: expected none beside every, which no clock change moves")
        if self.cron is not None and self.anchor_at is not None:
            raise ValueError("anchor_at: expected none beside cron")
        return self


class DueSchedule(Platform):
    """A schedule whose tick has come, as the storage found it."""

    org_id: UUID
    schedule: WorkSchedule
    now: AwareDatetime = Field(description="When it was found, on the storage's clock")


class Firing(Platform):
    """What one pass makes of a schedule that is due; it holds only while the schedule waits for the same tick."""

    schedule_id: UUID
    expected_at: AwareDatetime = Field(description="The tick that the schedule waited for when this was decided")
    items: tuple[WorkItem, ...] = ()
    next_fire_at: AwareDatetime | None
    last_fired_at: AwareDatetime | None = Field(default=None, description="None leaves what is there")
    last_error: str | None = None


class Fired(Platform):
    """What became of a firing."""

    is_current: bool = Field(description="False: somebody else fired these ticks, or the schedule was changed")
    item_ids: frozenset[UUID] = Field(
        default=frozenset(), description="Items that went in; one that was in the queue, or that overlaps, is not here"
    )
