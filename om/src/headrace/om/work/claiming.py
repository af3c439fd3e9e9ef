"""What may be claimed next: the arithmetic of rates, limits, lines and turns.

Pure. `storage/impl/gated_statements.py` spells `tokens_now`, `room_of` and `head_of` once more, named there as such,
because a claim decides in the statement that takes; the contract holds the two together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from headrace.om.work.types.control import LimitScope, WorkControls, WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow
from headrace.om.work.types.work_item import WorkItem, WorkStatus

DEFAULT_KEY_LIMIT: Final = 1
"""How many items of one concurrency key run at once where no limit says otherwise."""

NUM_LINES: Final = 2**63
"""Lines are numbers from 1 on, below this one."""

_STEP: Final = int(NUM_LINES * 0.6180339887498949)


def next_line(line: int) -> int:
    """Return behind which line the next claim begins among a turn's lines, after one that began behind this line.

    So that each line is the first one at times, and soon, however many there are, and nothing is remembered of them.

    Source: the additive recurrence with the golden ratio, a low-discrepancy sequence.
    """
    return (line + _STEP) % NUM_LINES


def claimed_order(row: ClaimedRow) -> tuple[int, object, UUID]:
    """Return by what the rows of one claim are sorted when they are handed over: priority, then age."""
    return -row.item.priority, row.item.available_at, row.item.id


@dataclass(frozen=True, slots=True)
class Bucket:
    """A rate's bucket: what was in it, and when."""

    tokens: float
    filled_at: datetime


def tokens_now(rate: WorkRate, bucket: Bucket, now: datetime) -> float:
    """Return what is in a bucket now: what was in it and what has flowed in since, up to the burst.

    A clock that was set back empties nothing.

    Source: the token bucket of RFC 2697, section 3, in items instead of bytes.
    """
    elapsed = max((now - bucket.filled_at).total_seconds(), 0.0)
    return min(float(rate.burst), bucket.tokens + rate.per_second * elapsed)


def is_live(item: WorkItem, now: datetime) -> bool:
    """Return whether the item's claim counts: it is held, and its lease has not passed."""
    return item.status is WorkStatus.CLAIMED and item.lease_expires_at is not None and item.lease_expires_at > now


def is_in_line(item: WorkItem, now: datetime) -> bool:
    """Return whether an unsettled item stands in the line of its ordering key: it was begun, or its time has come.

    One that has never been begun and is not due holds up nobody. One that was begun keeps its place until it settles:
    while it waits for its next attempt, and while it is parked.
    """
    if item.status is WorkStatus.CLAIMED or item.started_at is not None:
        return True
    return item.available_at is not None and item.available_at <= now


def head_of(line: Iterable[WorkItem], now: datetime) -> WorkItem | None:
    """Return who is next of the unsettled items of one ordering key; None where nobody stands in line.

    Who is claimed comes first, then who was begun, then who became due first, then the smaller id. A head that is
    claimed, or not due, lets nobody pass.
    """
    standing = [item for item in line if is_in_line(item, now)]
    return min(
        standing,
        key=lambda i: (i.status is not WorkStatus.CLAIMED, i.started_at is None, i.available_at, i.id),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class Running:
    """What runs now: a live claim each, with its tenant."""

    claims: Sequence[tuple[UUID, WorkItem]] = field(default_factory=tuple)

    def count(self, matches: Callable[[UUID, WorkItem], bool]) -> int:
        """Count the claims that match."""
        return sum(1 for org_id, item in self.claims if matches(org_id, item))


def room_of(controls: WorkControls, running: Running, org_id: UUID, item: WorkItem) -> int | None:
    """Return how many items like this one the limits let begin now, not below 0; None where no limit is about it."""
    known = [room for room in rooms_of(controls, running, org_id, item).values() if room is not None]
    return max(min(known), 0) if known else None


def rooms_of(controls: WorkControls, running: Running, org_id: UUID, item: WorkItem) -> dict[LimitScope, int | None]:
    """Return how many items like this one each scope of limits lets begin now, below 0 after a limit was lowered."""
    of_org = [_org_room(controls, running, org_id, kind) for kind in (None, item.kind)]
    return {
        LimitScope.KIND: _kind_room(controls, running, item.kind),
        LimitScope.ORG: min((room for room in of_org if room is not None), default=None),
        LimitScope.KEY: None if item.concurrency_key is None else _key_room(controls, running, org_id, item),
    }


def is_paused(controls: WorkControls, org_id: UUID, item: WorkItem) -> bool:
    """Return whether the item's lane, kind or org is paused."""
    return any(
        pause.lane == item.lane or pause.kind == item.kind or pause.org_id == org_id for pause in controls.pauses
    )


def is_about(controls: WorkControls, lane: str, kinds: Iterable[WorkKind]) -> bool:
    """Return whether anything is said that bounds claims of these kinds in the lane, keys apart."""
    wanted = frozenset(kinds)
    return (
        any(limit.scope is not LimitScope.KEY and limit.kind in {None, *wanted} for limit in controls.limits)
        or any(rate.kind in wanted for rate in controls.rates)
        or any(pause.lane == lane or pause.kind in wanted or pause.org_id is not None for pause in controls.pauses)
    )


def key_limit(controls: WorkControls, kind: WorkKind) -> int:
    """Return how many items of one concurrency key may run at once, for an item of this kind."""
    limits = [each.max_running for each in controls.limits if each.scope is LimitScope.KEY and each.kind == kind]
    return limits[0] if limits else DEFAULT_KEY_LIMIT


def _kind_room(controls: WorkControls, running: Running, kind: WorkKind) -> int | None:
    limits = [each.max_running for each in controls.limits if each.scope is LimitScope.KIND and each.kind == kind]
    return limits[0] - running.count(lambda _, item: item.kind == kind) if limits else None


def _org_room(controls: WorkControls, running: Running, org_id: UUID, kind: WorkKind | None) -> int | None:
    """Return the room of an org in all kinds or in one; its own limit goes before the one of each org."""
    about = [each for each in controls.limits if each.scope is LimitScope.ORG and each.kind == kind]
    own = [each for each in about if each.org_id == org_id] or [each for each in about if each.org_id is None]
    if not own:
        return None
    return own[0].max_running - running.count(lambda org, item: org == org_id and kind in {None, item.kind})


def _key_room(controls: WorkControls, running: Running, org_id: UUID, item: WorkItem) -> int:
    key = item.concurrency_key
    return key_limit(controls, item.kind) - running.count(lambda org, i: org == org_id and i.concurrency_key == key)
