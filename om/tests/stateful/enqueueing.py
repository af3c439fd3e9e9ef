"""Steps of who asks for work."""

from typing import Any
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from headrace.om.work.exceptions import WorkItemTaken
from headrace.om.work.types.bundle import FollowUp, WorkBundle
from headrace.om.work.types.kinds import WorkKind
from om.tests.stateful.model import Asked, ExpectedBundle
from om.tests.stateful.promises import ONE_KEY
from om.tests.stateful.shapes import LANES, places, shapes
from om.tests.stateful.stepping import QueueSteps, has_items
from om.tests.stateful.world import BrokenPromise

FOLLOW_UP = FollowUp(kind=WorkKind.NOOP, lane=LANES[0], max_attempts=2)


class EnqueueSteps(QueueSteps):
    """Items, many items and bundles are enqueued, some of them again."""

    @initialize(asked_for=st.lists(shapes, min_size=11, max_size=11))
    def begin_with_some(self, asked_for: list[dict[str, Any]]) -> None:
        self.enqueue_bundle(0, asked_for[9:], is_followed=True)
        for org in range(3):
            self.enqueue_many(org, asked_for[org:9:3])

    @rule(org=places, shape=shapes, is_known=st.integers(0, 3).map(lambda drawn: drawn == 1))
    def enqueue(self, org: int, shape: dict[str, Any], *, is_known: bool) -> None:
        """Enqueue one item, now and then under an id that is there already, in this org or in another."""
        if is_known and has_items(self):
            self._enqueue(org, Asked(**shape | {"id": self.any_item(org).asked.id}))
        else:
            self._enqueue(org, self.asked(shape))

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
        asked = first_of_those_that_agree([self.asked(shape) for shape in asked_for])
        bundle = WorkBundle(kind="batch", origin="machine", on_settled=FOLLOW_UP if is_followed else None, id=uuid4())
        items = [self.world.item(each) for each in asked]
        step = self.world.work.enqueue_bundle(ctx, bundle, items)
        if any(self.world.model.in_way_of(ctx.org_id, each) is not None for each in asked):
            self.world.refused(ONE_KEY, WorkItemTaken, step)
            return
        written = self.world.run(step)
        expected = ExpectedBundle(ctx.org_id, bundle.id, {each.id: "open" for each in asked}, _follow_up_of(written))
        self.world.model.enqueue_bundle(expected, asked)


def first_of_those_that_agree(asked: list[Asked]) -> list[Asked]:
    """Return them without those that say what an earlier one says, where there may be one of it.

    A bundle refuses them; which of two such follow-ups is enqueued is not promised.
    """
    first: list[Asked] = []
    for each in asked:
        says = _says(each)
        if not any(says & _says(earlier) for earlier in first):
            first.append(each)
    return first


def _says(asked: Asked) -> set[tuple[str, str]]:
    own = {("key", asked.key), (asked.kind, asked.unique)}
    return {(about, value) for about, value in own if value is not None}


def _follow_up_of(written: WorkBundle) -> Asked | None:
    if written.follow_up_id is None:
        return None
    key = f"bundle:{written.id}"
    return Asked(written.follow_up_id, FOLLOW_UP.kind.value, FOLLOW_UP.lane, max_attempts=2, key=key)
