"""Claiming over memory: one item after the other, round the turns, each by the rules as they are."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, override
from uuid import UUID, uuid4

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.clock import Clock, wall_clock
from headrace.om.work import claiming
from headrace.om.work.claiming import Bucket, Running
from headrace.om.work.storage import WorkClaimStorageInterface, WorkControlStorageInterface
from headrace.om.work.storage.impl.item_columns import line_of
from headrace.om.work.storage.impl.memory_items import WorkMemoryPart, available_at
from headrace.om.work.types.control import LimitScope, WorkControl, WorkControls, WorkLimit, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow, WorkHeldBack
from headrace.om.work.types.work_item import WorkItem, WorkStatus

type Place = tuple[str, frozenset[WorkKind]]
"""A lane and kinds."""

type Waiting = dict[UUID, list[tuple[UUID, WorkItem]]]
"""Due items with their tenants, by turn, each turn's in the order in which they are taken."""


class WorkClaimsMemory(WorkMemoryPart, WorkClaimStorageInterface, WorkControlStorageInterface):
    """Every claim is one critical section, so it needs no gate."""

    def __init__(self, clock: Clock = wall_clock, *, fair_share: bool = True) -> None:
        super().__init__(clock)
        self._fair_share = fair_share
        self._controls: dict[tuple[object, ...], WorkControl] = {}
        self._buckets: dict[WorkKind, Bucket] = {}
        self._served: dict[Place, UUID] = {}
        self._bounded: set[Place] = set()
        self._line = 0

    @override
    async def claim_next(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> ClaimedRow | None:
        claimed = await self.claim_batch(lane, kinds, worker_id, lease, 1)
        return claimed[0] if claimed else None

    @override
    async def claim_batch(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int
    ) -> tuple[ClaimedRow, ...]:
        place = (lane, frozenset(kinds))
        async with self._lock:
            waiting = self._waiting(place)
            self._note_bounded(place, waiting)
            claimed: list[tuple[UUID, WorkItem]] = []
            for _ in range(limit):
                if (row := self._take_next(place, waiting, worker_id, lease)) is None:
                    break
                claimed.append(row)
        rows = (ClaimedRow(org_id=org_id, item=item) for org_id, item in claimed)
        return tuple(sorted(rows, key=claiming.claimed_order))

    @override
    def is_bounded(self, lane: str) -> bool:
        return any(place[0] == lane for place in self._bounded)

    @override
    async def put_control(self, control: WorkControl, origin: str) -> None:
        async with self._lock:
            self._controls[_subject(control)] = control
            if isinstance(control, WorkRate):
                full = Bucket(float(control.burst), self._clock())
                before = self._buckets.get(control.kind, full)
                self._buckets[control.kind] = Bucket(min(before.tokens, control.burst), before.filled_at)

    @override
    async def delete_control(self, control: WorkControl) -> bool:
        async with self._lock:
            if isinstance(control, WorkRate):
                self._buckets.pop(control.kind, None)
            return self._controls.pop(_subject(control), None) is not None

    @override
    async def read_controls(self) -> WorkControls:
        return self._all_controls()

    @override
    async def read_held_back(self) -> WorkHeldBack:
        now = self._clock()
        controls, running = self._all_controls(), self._running(now)
        reasons: Counter[str] = Counter()
        for (org_id, _), item in self._table.rows.items():
            if item.status is WorkStatus.QUEUED and available_at(item) <= now:
                reasons.update(self._reasons(controls, running, (org_id, item), now))
        return WorkHeldBack(**reasons)

    def _reasons(
        self, controls: WorkControls, running: Running, pair: tuple[UUID, WorkItem], now: datetime
    ) -> list[str]:
        org_id, item = pair
        rooms = claiming.rooms_of(controls, running, org_id, item)
        full = [scope for scope, room in rooms.items() if room is not None and room <= 0]
        return [
            *(["num_paused"] if claiming.is_paused(controls, org_id, item) else []),
            *(_FULL[scope] for scope in full),
            *(["num_of_spent_rates"] if self._is_spent(controls, item.kind, now) else []),
            *(["num_out_of_order"] if item.ordering_key is not None and not self._is_head(org_id, item, now) else []),
        ]

    def _is_spent(self, controls: WorkControls, kind: WorkKind, now: datetime) -> bool:
        """Return whether the kind's rate lets nothing begin now."""
        rate = next((each for each in controls.rates if each.kind == kind), None)
        return rate is not None and claiming.tokens_now(rate, self._buckets[kind], now) < 1

    def _all_controls(self) -> WorkControls:
        each = [self._controls[subject] for subject in sorted(self._controls, key=str)]
        return WorkControls(
            limits=tuple(one for one in each if isinstance(one, WorkLimit)),
            rates=tuple(one for one in each if isinstance(one, WorkRate)),
            pauses=tuple(one for one in each if isinstance(one, WorkPause)),
        )

    def _waiting(self, place: Place) -> Waiting:
        lane, kinds = place
        now = self._clock()
        due = [
            (org_id, item)
            for (org_id, _), item in self._table.rows.items()
            if item.status is WorkStatus.QUEUED
            and item.lane == lane
            and item.kind in kinds
            and available_at(item) <= now
        ]
        turns: Waiting = {}
        for org_id, item in due:
            turns.setdefault(org_id if self._fair_share or item.has_key else EMPTY_UUID, []).append((org_id, item))
        return {turn: _in_order(rows) for turn, rows in turns.items()}

    def _note_bounded(self, place: Place, waiting: Waiting) -> None:
        has_keyed = any(item.has_key for rows in waiting.values() for _, item in rows)
        if has_keyed or claiming.is_about(self._all_controls(), *place):
            self._bounded.add(place)
        else:
            self._bounded.discard(place)

    def _take_next(
        self, place: Place, waiting: Waiting, worker_id: str, lease: timedelta
    ) -> tuple[UUID, WorkItem] | None:
        """Claim the first item that may be, of the first turn behind the one served last that has any."""
        last = self._served.get(place, EMPTY_UUID)
        now = self._clock()
        controls, running = self._all_controls(), self._running(now)
        for turn in sorted(waiting, key=lambda turn: (turn <= last, turn)):
            able = [pair for pair in waiting[turn] if self._may_begin(controls, running, pair, now)]
            if able:
                pair = self._first_of(able)
                waiting[turn].remove(pair)
                self._served[place] = turn
                return pair[0], self._claim(*pair, worker_id, lease)
        return None

    def _first_of(self, able: list[tuple[UUID, WorkItem]]) -> tuple[UUID, WorkItem]:
        """Return the first of a turn's items that may begin: of those with a key, only one line's is looked at."""
        lines = {line_of(item) for _, item in able if line_of(item)}
        self._line = claiming.next_line(self._line)
        chosen = min(lines, key=lambda line: (line <= self._line, line), default=0)
        return next(pair for pair in able if line_of(pair[1]) in {0, chosen})

    def _may_begin(self, controls: WorkControls, running: Running, pair: tuple[UUID, WorkItem], now: datetime) -> bool:
        org_id, item = pair
        if claiming.is_paused(controls, org_id, item) or claiming.room_of(controls, running, org_id, item) == 0:
            return False
        if item.ordering_key is not None and not self._is_head(org_id, item, now):
            return False
        return not self._is_spent(controls, item.kind, now)

    def _is_head(self, org_id: UUID, item: WorkItem, now: datetime) -> bool:
        unsettled = {WorkStatus.QUEUED, WorkStatus.CLAIMED}
        line = [i for i in self._table.of(org_id) if i.ordering_key == item.ordering_key and i.status in unsettled]
        head = claiming.head_of(line, now)
        return head is not None and head.id == item.id

    def _running(self, now: datetime) -> Running:
        rows = self._table.rows.items()
        return Running(tuple((org_id, item) for (org_id, _), item in rows if claiming.is_live(item, now)))

    def _claim(self, org_id: UUID, item: WorkItem, worker_id: str, lease: timedelta) -> WorkItem:
        now = self._clock()
        rate = next((each for each in self._all_controls().rates if each.kind == item.kind), None)
        if rate is not None:
            left = claiming.tokens_now(rate, self._buckets[item.kind], now) - 1
            self._buckets[item.kind] = Bucket(left, now)
        return self._table.write(
            org_id,
            item,
            status=WorkStatus.CLAIMED,
            claim_token=uuid4(),
            claimed_by=worker_id,
            lease_expires_at=now + lease,
            attempts=item.attempts + 1,
            started_at=now,
            progress=None,
            progress_note=None,
        )


_FULL = {
    LimitScope.KIND: "num_of_full_kinds",
    LimitScope.ORG: "num_of_full_orgs",
    LimitScope.KEY: "num_of_full_keys",
}


def _in_order(rows: list[tuple[UUID, WorkItem]]) -> list[tuple[UUID, WorkItem]]:
    """Return a turn's items by priority, then the kind that waits longest, then age."""
    heads: dict[tuple[int, WorkKind], Any] = {}
    for _, item in rows:
        level = (item.priority, item.kind)
        heads[level] = min(heads.get(level, available_at(item)), available_at(item))
    return sorted(rows, key=lambda r: (-r[1].priority, heads[r[1].priority, r[1].kind], r[1].kind, *_age(r[1])))


def _age(item: WorkItem) -> tuple[Any, UUID]:
    return available_at(item), item.id


def _subject(control: WorkControl) -> tuple[object, ...]:
    """Return what a control is about: there is one of its type about it."""
    if isinstance(control, WorkLimit):
        return ("limit", control.scope, control.kind, control.org_id)
    if isinstance(control, WorkRate):
        return ("rate", control.kind)
    return ("pause", control.lane, control.kind, control.org_id)
