"""What the platform's operators say about claims: limits, rates and pauses, and what each is about."""

from enum import StrEnum
from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator

from headrace.om.base import EMPTY_UUID, Platform
from headrace.om.work.types.kinds import WorkKind

MAX_LANE_LENGTH: Final = 100


def _of_an_org(org_id: UUID) -> UUID:
    if org_id == EMPTY_UUID:
        raise ValueError("expected an org's id; the empty one is no org's")
    return org_id


OrgId = Annotated[UUID, AfterValidator(_of_an_org)]
"""Whom a control is about."""


class LimitScope(StrEnum):
    """What a limit counts together."""

    KIND = "kind"
    """All running items of one kind, whoever they belong to, in whatever lane."""
    ORG = "org"
    """The running items of an org: of one org, or of each org; of every kind, or of one."""
    KEY = "key"
    """The running items of each concurrency key of an org, as it holds for items of one kind."""


class WorkLimit(Platform):
    """At most so many items run at once: claims whose lease has not passed.

    A limit holds for claims. Lowered below what runs, it takes nothing back and lets nothing more begin.
    """

    scope: LimitScope
    kind: WorkKind | None = None
    org_id: OrgId | None = Field(
        default=None, description="With scope org: which one; None is each that has no own limit"
    )
    max_running: int = Field(ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _names_what_its_scope_counts(self) -> Self:
        if self.scope is not LimitScope.ORG and self.kind is None:
            raise ValueError(f"kind: expected one with scope {self.scope}")
        if self.scope is not LimitScope.ORG and self.org_id is not None:
            raise ValueError(f"org_id: expected none with scope {self.scope}")
        return self


class WorkRate(Platform):
    """At most so many items of a kind begin in a time: a bucket that fills steadily, and is drawn from by each claim.

    Claims count, whatever becomes of them: what is released has begun all the same.
    """

    kind: WorkKind
    per_second: float = Field(
        gt=0, le=1_000_000, description="How fast the bucket fills; below 1 is one in a longer time"
    )
    burst: int = Field(
        default=1, ge=1, le=1_000_000, description="What a full bucket holds: how many may begin at once"
    )


class WorkPause(Platform):
    """Nothing of a lane, of a kind or of an org is claimed; what runs goes on to its end."""

    lane: str | None = Field(default=None, min_length=1, max_length=MAX_LANE_LENGTH)
    kind: WorkKind | None = None
    org_id: OrgId | None = None

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        named = [name for name in ("lane", "kind", "org_id") if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(f"lane, kind, org_id: expected exactly one of them, got {', '.join(named) or 'none'}")
        return self


type WorkControl = WorkLimit | WorkRate | WorkPause
"""One thing that is said about claims. About one subject there is at most one of each type."""


class WorkControls(Platform):
    """Everything that is said about claims."""

    limits: tuple[WorkLimit, ...] = ()
    rates: tuple[WorkRate, ...] = ()
    pauses: tuple[WorkPause, ...] = ()
