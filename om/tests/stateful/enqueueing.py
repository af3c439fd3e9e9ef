"""Steps of who asks for work."""

from typing import Any
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import rule

from headrace.om.work.exceptions import WorkItemTaken
from headrace.om.work.types.bundle import FollowUp, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from om.tests.stateful.model import Asked, ExpectedBundle
from om.tests.stateful.promises import ONE_KEY
from om.tests.stateful.shapes import LANES, places, shapes
from om.tests.stateful.stepping import QueueSteps
from om.tests.stateful.world import BrokenPromise

FOLLOW_UP = FollowUp(kind=WorkKind.NOOP, lane=LANES[0], max_attempts=2)


class EnqueueSteps(QueueSteps):
    """Items, many items and bundles are enqueued, some of them again."""

    @rule(org=places, shape=shapes)
    def enqueue(self, org: int, shape: dict[str, Any]) -> None:
        self._enqueue(org, self.asked(shape))

    @rule(pick=places, shape=shapes)
    def enqueue_the_same_again(self, pick: int, shape: dict[str, Any]) -> None:
        if (item := self.any_item(pick)) is not None:
            self._enqueue(pick, Asked(**shape | {"id": item.asked.id}))

    def _enqueue(self, org: int, asked: Asked) -> None:
        ctx = self.world.owner(org)
        there = self.world.model.enqueue(ctx.org_id, asked)
        written = self.world.run(self.world.work.enqueue(ctx, self.world.item(asked)))
        if written.id != there:
            raise BrokenPromise(ONE_KEY, f"enqueued {asked}, found {written.id}, expected {there}")

    @rule(org=places, asked_for=st.lists(shapes, min_size=2, max_size=6))
    def enqueue_many(self, org: int, asked_for: list[dict[str, Any]]) -> None:
        ctx = self.world.owner(org)
        asked = [self.asked(shape) for shape in asked_for]
        items = [self.world.item(each) for each in asked]
        expected = [self.world.model.enqueue(ctx.org_id, each) for each in asked]
        found = self.world.run(self.world.work.enqueue_many(ctx, items))
        ids = [each.item_id for each in found]
        is_new = [each.item_id == one.id for each, one in zip(found, asked, strict=True)]
        if ids != expected or is_new != [each.is_new for each in found]:
            raise BrokenPromise(ONE_KEY, f"enqueued {asked}, found {found}, expected {expected}")

    @rule(org=places, asked_for=st.lists(shapes, min_size=1, max_size=3), is_followed=st.booleans())
    def enqueue_bundle(self, org: int, asked_for: list[dict[str, Any]], *, is_followed: bool) -> None:
        ctx = self.world.owner(org)
        asked = [self.asked(shape) for shape in asked_for]
        bundle = WorkBundle(kind="batch", origin="machine", on_settled=FOLLOW_UP if is_followed else None, id=uuid4())
        items = [self.world.item(each) for each in asked]
        if _repeats(asked):
            return
        step = self.world.work.enqueue_bundle(ctx, bundle, items)
        if any(self.world.model.in_way_of(ctx.org_id, each) is not None for each in asked):
            self.world.refused(ONE_KEY, WorkItemTaken, step)
            return
        written = self.world.run(step)
        expected = ExpectedBundle(ctx.org_id, bundle.id, {each.id: "open" for each in asked}, _follow_up_of(written))
        self.world.model.enqueue_bundle(expected, asked)


def _repeats(asked: list[Asked]) -> bool:
    """Return whether two say the same in what there may be one of, which the manager refuses."""
    keys = [each.key for each in asked if each.key is not None]
    uniques = [(each.kind, each.unique) for each in asked if each.unique is not None]
    return len(keys) != len(set(keys)) or len(uniques) != len(set(uniques))


def _follow_up_of(written: WorkBundle) -> Asked | None:
    if written.follow_up_id is None:
        return None
    key = f"bundle:{written.id}"
    return Asked(written.follow_up_id, FOLLOW_UP.kind.value, FOLLOW_UP.lane, max_attempts=2, key=key)
