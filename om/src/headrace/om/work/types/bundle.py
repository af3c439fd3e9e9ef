"""The bundle: items that were enqueued together, counted as they settle, with one item to follow when all have."""

from enum import StrEnum
from typing import ClassVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from headrace.om.base import PROVENANCE_FIELDS, FrozenMapping, Identifiable, Platform, Trackable
from headrace.om.paging import SoughtText
from headrace.om.work.types.kinds import WorkKind


class BundleStatus(StrEnum):
    """Where a bundle stands."""

    OPEN = "open"
    SETTLED = "settled"
    """Every item of it has settled; a retry of one opens it again."""


class FollowUp(Platform):
    """The one item that is enqueued when a bundle's last item settles."""

    kind: WorkKind
    payload: FrozenMapping = Field(default_factory=FrozenMapping)
    lane: str = Field(default="default", min_length=1, max_length=100)
    priority: int = Field(default=0, ge=-32768, le=32767, description="Higher first")
    max_attempts: int | None = Field(default=None, ge=1, le=10_000, description="None: as an item of the kind has")


class WorkBundle(Identifiable, Trackable):
    """Items of one tenant that belong together; each of them is counted once, in the transaction that settles it.

    A caller says what the bundle is for (`kind`), who asked (`origin`) and what follows (`on_settled`). Everything
    else is the manager's.
    """

    MANAGER_OWNED_FIELDS: ClassVar[frozenset[str]] = PROVENANCE_FIELDS | {
        "request_id",
        "traceparent",
        "follow_up_id",
        "num_items",
        "num_done",
        "num_failed",
        "num_cancelled",
        "status",
        "settled_at",
    }

    kind: str = Field(min_length=1, max_length=100, description="What the bundle is for, in the caller's words")
    origin: str = Field(min_length=1, max_length=100, description="Who asked, for operators")
    on_settled: FollowUp | None = None
    request_id: UUID | None = None
    traceparent: str | None = Field(default=None, max_length=128)
    follow_up_id: UUID | None = Field(default=None, description="The id that the follow-up has, or will have")
    num_items: int = Field(default=0, ge=0)
    num_done: int = Field(default=0, ge=0)
    num_failed: int = Field(default=0, ge=0)
    num_cancelled: int = Field(default=0, ge=0)
    status: BundleStatus = BundleStatus.OPEN
    settled_at: AwareDatetime | None = None

    @property
    def num_settled(self) -> int:
        """Items that have settled, however they did."""
        return self.num_done + self.num_failed + self.num_cancelled


class BundleFilter(Platform):
    """Which bundles of a tenant; every field that is set narrows."""

    status: BundleStatus | None = None
    kind: SoughtText | None = None
    origin: SoughtText | None = None
