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
        world.gone |= world.begun_again - world.rows.items.keys()
        for promise, broken_by in PROMISES.items():
            if found := list(broken_by(world)):
                raise BrokenPromise(promise, found)
        world.begun_again.clear()
        world.model.step += 1

    def asked(self, shape: dict[str, Any]) -> Asked:
        """Return a new item of a shape."""
        return Asked(id=self.world.new_id(), **shape)

    def any_item(self, pick: int) -> Expected:
        """Return one of the items there are, of any org and status."""
        return _one_of(list(self.world.model.items.values()), pick)

    def any_settled(self, pick: int) -> Expected:
        """Return one of the items that have settled."""
        return _one_of([item for item in self.world.model.items.values() if item.is_settled], pick)

    def any_bundle(self, pick: int) -> ExpectedBundle:
        """Return one of the bundles there are."""
        return _one_of(list(self.world.model.bundles.values()), pick)

    def any_claim(self, pick: int, *, is_late: bool = False) -> Claim:
        """Return one of the claims that still hold their items; or, late, of those that no longer do.

        Of the late ones rather one whose item somebody else holds by now.
        """
        claims = [claim for claim in self.world.claims if self.world.is_held(claim) is not is_late]
        rivalled = [claim for claim in claims if is_late and self.world.is_held_by_another(claim)]
        return _one_of(rivalled or claims or self.world.claims, pick)


def has_items(machine: QueueSteps) -> bool:
    """Whether there is an item."""
    return bool(machine.world.model.items)


def has_bundles(machine: QueueSteps) -> bool:
    """Whether there is a bundle."""
    return bool(machine.world.model.bundles)


def has_claims(machine: QueueSteps) -> bool:
    """Whether anything was ever claimed."""
    return bool(machine.world.claims)


def has_held(machine: QueueSteps) -> bool:
    """Whether a claim still holds its item."""
    return any(machine.world.is_held(claim) for claim in machine.world.claims)


def has_settled(machine: QueueSteps) -> bool:
    """Whether there is a settled item."""
    return any(item.is_settled for item in machine.world.model.items.values())


def has_written(machine: QueueSteps) -> bool:
    """Whether a settlement was written that can be written again."""
    return any(claim.written is not None for claim in machine.world.claims)


def _one_of[Thing](things: list[Thing], pick: int) -> Thing:
    """Return one of the things, the newest for 0."""
    return things[-1 - pick % len(things)]
