"""Steps of who operates the platform."""

from typing import Final
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import rule

from headrace.om.work.types.control import LimitScope, WorkControl, WorkLimit, WorkPause, WorkRate
from headrace.om.work.types.kinds import WorkKind
from om.tests.stateful.holding_back import Bucket, Subject
from om.tests.stateful.shapes import KINDS, LANES, places
from om.tests.stateful.stepping import QueueSteps
from om.tests.stateful.world import BrokenPromise

SAID: Final = "What is said about claims is what was said last"

PER_SECOND: Final = 0.0021
"""More than one in ten minutes, and never a whole number at an instant that is looked at."""

# The same ones in every tree: a worker that is added must not make other examples of a usual run.
_KINDS: Final = tuple(WorkKind(kind) for kind in sorted(KINDS))
kinds = st.sampled_from(_KINDS)
any_kind = st.sampled_from((None, *_KINDS))


class ControlSteps(QueueSteps):
    """Limits, rates and pauses come and go."""

    @rule(kind=kinds, scope=st.sampled_from((LimitScope.KIND, LimitScope.KEY)), max_running=st.integers(1, 3))
    def limit_a_kind(self, kind: WorkKind, scope: LimitScope, max_running: int) -> None:
        self._limit(WorkLimit(scope=scope, kind=kind, max_running=max_running))

    @rule(kind=any_kind, org=st.sampled_from((None, 0, 1)), max_running=st.integers(1, 3))
    def limit_an_org(self, kind: WorkKind | None, org: int | None, max_running: int) -> None:
        org_id = None if org is None else self.world.owner(org).org_id
        self._limit(WorkLimit(scope=LimitScope.ORG, kind=kind, org_id=org_id, max_running=max_running))

    def _limit(self, limit: WorkLimit) -> None:
        self._say(limit)
        self.world.controls.limits[_subject(limit)] = limit.max_running

    @rule(kind=kinds, burst=st.integers(1, 3))
    def rate(self, kind: WorkKind, burst: int) -> None:
        self._say(WorkRate(kind=kind, per_second=PER_SECOND, burst=burst))
        before = self.world.controls.buckets.get(kind.value)
        full = Bucket(PER_SECOND, burst, float(burst), self.world.model.now)
        if before is not None:
            full.tokens, full.filled_at = min(before.tokens, float(burst)), before.filled_at
        self.world.controls.buckets[kind.value] = full

    @rule(pick=places)
    def pause(self, pick: int) -> None:
        pause, subject = self._pauses()[pick % len(self._pauses())]
        self._say(pause)
        self.world.controls.pauses.add(subject)

    @rule()
    def lift_everything(self) -> None:
        for _ in range(
            len(self.world.controls.limits) + len(self.world.controls.buckets) + len(self.world.controls.pauses)
        ):
            self.lift(0)

    @rule(pick=places)
    def lift(self, pick: int) -> None:
        """Take back one thing that is said, or what was never said."""
        controls = self.world.controls
        said: list[tuple[WorkControl, bool]] = [
            (pause, subject in controls.pauses) for pause, subject in self._pauses()
        ]
        said += [(WorkRate(kind=kind, per_second=1), kind.value in controls.buckets) for kind in _KINDS]
        said += [(_limit_of(subject), True) for subject in controls.limits]
        control, is_said = sorted(said, key=lambda each: not each[1])[pick % len(said)]
        was_said = self.world.run(self.world.work.remove_control(self.world.ground.rctx, control))
        if was_said is not is_said:
            raise BrokenPromise(SAID, f"{control} was said: {was_said}")
        self._forget(control)

    def _say(self, control: WorkControl) -> None:
        self.world.run(self.world.work.set_control(self.world.ground.rctx, control, origin="machine"))

    def _pauses(self) -> list[tuple[WorkPause, str | UUID]]:
        org_id = self.world.owner(0).org_id
        lanes: list[tuple[WorkPause, str | UUID]] = [(WorkPause(lane=lane), lane) for lane in LANES]
        kinds = [(WorkPause(kind=kind), kind.value) for kind in _KINDS]
        return [*lanes, *kinds, (WorkPause(org_id=org_id), org_id)]

    def _forget(self, control: WorkControl) -> None:
        controls = self.world.controls
        if isinstance(control, WorkLimit):
            controls.limits.pop(_subject(control), None)
        elif isinstance(control, WorkRate):
            controls.buckets.pop(control.kind.value, None)
        else:
            controls.pauses -= {control.lane, control.org_id, None if control.kind is None else control.kind.value}


def _subject(limit: WorkLimit) -> Subject:
    return limit.scope.value, None if limit.kind is None else limit.kind.value, limit.org_id


def _limit_of(subject: Subject) -> WorkLimit:
    scope, kind, org_id = subject
    kind_of = None if kind is None else WorkKind(kind)
    return WorkLimit(scope=LimitScope(scope), kind=kind_of, org_id=org_id, max_running=1)
