"""How a claim ends, as its holder writes it and as the model takes it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hypothesis import strategies as st

from headrace.om.work import rules
from headrace.om.work.types.settlement import Settled, Settlement
from om.tests.stateful.shapes import RETRIED
from om.tests.stateful.world import BrokenPromise, Claim, World

STALE: Final = "A stale holder's write changes nothing and says Conflict"

ends = st.sampled_from(("done", "done", "failed", "cancelled", "retry", "released", "deferred", "parked"))

_NAMED: Final = {
    "complete": "done",
    "refuse": "failed",
    "release": "released",
    "defer": "deferred",
    "park": "parked",
}
"""The end that each method of the manager writes."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of one claim, to be written."""

    claim: Claim
    settlement: Settlement
    delay: timedelta

    @classmethod
    def of(cls, world: World, claim: Claim, end: str, delay: timedelta) -> "End":
        """Return the end of this name; one that is not queued again, or at once, has no delay."""
        item, until = claim.item, world.ground.backend.now() + delay
        made: dict[str, Callable[[], Settlement]] = {
            "done": lambda: rules.done(item, {"n": 1}),
            "failed": lambda: rules.refused(item, "no"),
            "cancelled": lambda: rules.cancelled(item),
            "retry": lambda: rules.failed(item, "boom", after=delay),
            "released": lambda: rules.released(item),
            "deferred": lambda: rules.deferred(item, delay),
            "parked": lambda: rules.parked(item, "later", until),
        }
        return cls(claim, made[end](), timedelta(0) if end == "released" else delay)

    def follow(self, world: World, settled: Settled, promise: str) -> None:
        """Hold the answer to the model, and let the model take the end."""
        if settled.is_recorded != world.is_held(self.claim):
            raise BrokenPromise(promise, f"{settled} of {self.settlement}")
        if settled.is_recorded:
            item = world.expected(self.claim)
            world.model.settle(item, self.settlement.outcome.value, self.settlement.settlement_id, self.delay)
            self.claim.written = self.settlement


def named_step(world: World, claim: Claim, how: str, delay: timedelta) -> Coroutine[object, object, None]:
    """Return the manager's own method for an end."""
    work, ctx, item = world.work, claim.ctx, claim.item
    until = world.ground.backend.now() + delay
    made: dict[str, Callable[[], Coroutine[object, object, None]]] = {
        "complete": lambda: work.complete(ctx, item, {"n": 1}),
        "fail": lambda: work.fail(ctx, item, "boom"),
        "refuse": lambda: work.refuse(ctx, item, "no"),
        "release": lambda: work.release(ctx, item),
        "defer": lambda: work.defer(ctx, item, delay),
        "park": lambda: work.park(ctx, item, "later", until),
    }
    return made[how]()


def follow_named(world: World, claim: Claim, how: str, delay: timedelta) -> None:
    """Let the model take an end that a method of the manager wrote."""
    item = world.expected(claim)
    if how != "fail":
        world.model.settle(item, _NAMED[how], None, delay)
    elif item.attempts >= item.asked.max_attempts:
        world.model.settle(item, "failed", None)
    else:
        # By the kind's own delay, which is seconds: they pass before anybody looks.
        world.model.settle(item, "retry", None, RETRIED)
        world.advance(RETRIED)
