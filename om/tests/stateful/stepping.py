"""What the machine's rules stand on, and what is looked at after each of them."""

from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, invariant

from om.tests.stateful.ground import Ground
from om.tests.stateful.model import Asked, Expected, ExpectedBundle
from om.tests.stateful.promises import PROMISES
from om.tests.stateful.world import BrokenPromise, Claim, World


class QueueSteps(RuleBasedStateMachine):
    """One example: a queue without rows, its model, and the promises after every step."""

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        self.world = World(ground, ground.new_manager())

    @invariant()
    def every_promise_is_kept(self) -> None:
        """Look at every row of every org, as their operators see them."""
        world = self.world
        world.before, world.rows = world.rows, world.read()
        for promise, broken_by in PROMISES.items():
            if found := list(broken_by(world)):
                raise BrokenPromise(promise, found)
        world.begun_again.clear()
        world.model.step += 1

    def asked(self, shape: dict[str, Any]) -> Asked:
        """Return a new item of a shape."""
        return Asked(id=self.world.new_id(), **shape)

    def any_item(self, pick: int) -> Expected | None:
        """Return one of the items there are, of any org and status."""
        return _one_of(list(self.world.model.items.values()), pick)

    def any_bundle(self, pick: int) -> ExpectedBundle | None:
        """Return one of the bundles there are."""
        return _one_of(list(self.world.model.bundles.values()), pick)

    def any_claim(self, pick: int, *, is_late: bool) -> Claim | None:
        """Return one of the claims that still hold their items; or, late, of those that no longer do."""
        claims = [claim for claim in self.world.claims if self.world.is_held(claim) is not is_late]
        return _one_of(claims, pick)


def _one_of[Thing](things: list[Thing], pick: int) -> Thing | None:
    """Return one of the newest things, or None where there is none."""
    return things[-1 - pick % len(things)] if things else None
