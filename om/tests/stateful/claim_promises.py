"""What the queue promises to who claims, each a sentence; held to what a claim has just taken."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from om.tests.stateful.holding_back import Subject, head_of, may_begin, num_running
from om.tests.stateful.model import Expected
from om.tests.stateful.world import BrokenPromise, Claim, World

HELD: Final = "An item has at most one holder"
EARLY: Final = "Nothing is claimed early"
PAUSED: Final = "Nothing of a paused lane, kind or org is claimed"
PLACE: Final = "A claim takes only items of its lane and kinds, of the tenant that it says"
LIMITED: Final = "A claim takes no more than a limit has room for, and a limit counts live claims only"
RATED: Final = "No more items of a kind begin than its rate lets"
ORDERED: Final = "Items of an ordering key run one at a time, in order"
FOUND: Final = "Blocked items never block others: where something may be claimed, a claim finds it"
PRIORITY: Final = "Of one org the highest priority comes first"
FAIR: Final = "No org has two turns while another, which waits as well, has none"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a worker claims."""

    lane: str
    kinds: frozenset[str]
    limit: int
    lease: timedelta

    def is_about(self, item: Expected) -> bool:
        return item.asked.lane == self.lane and item.asked.kind in self.kinds


def take(world: World, wishes: Sequence[Wish], taken: Sequence[Sequence[Claim]]) -> None:
    """Hold what claims of one moment took to the promises, and let the model take the same.

    Args:
        world: As it was before the claims.
        wishes: What each asked for.
        taken: What each was given.
    """
    for wish, claims in zip(wishes, taken, strict=True):
        _hold_each(world, wish, claims)
    everything = [claim for claims in taken for claim in claims]
    rows = [claim.row for claim in everything]
    _promise(HELD, len(rows) == len(set(rows)), f"claimed twice at once: {rows}")
    items = [world.model.items[row] for row in rows]
    _hold_order(world, items)
    _hold_rates(world, items)
    _hold_limits(world, items)
    for wish, claims in zip(wishes, taken, strict=True):
        _begin(world, wish, claims)


def _hold_each(world: World, wish: Wish, claims: Iterable[Claim]) -> None:
    for claim in claims:
        item = world.model.items.get(claim.row)
        if item is None:
            raise BrokenPromise(PLACE, f"an item that is not there: {claim.row}")
        _promise(PLACE, wish.is_about(item), item)
        _promise(HELD, item.status == "queued", item)
        _promise(EARLY, item.due_at <= world.model.now, f"at {world.model.now}: {item}")
        _promise(PAUSED, not world.controls.is_paused(item), item)


def _hold_order(world: World, items: Iterable[Expected]) -> None:
    for item in items:
        if item.asked.ordering_key is not None:
            head = head_of(world.model, item.org_id, item.asked.ordering_key)
            _promise(ORDERED, head is item, f"claimed {item} before {head}")


def _hold_rates(world: World, items: Sequence[Expected]) -> None:
    for kind in {item.asked.kind for item in items}:
        num_begun = sum(1 for item in items if item.asked.kind == kind)
        num_ready = world.controls.num_ready(kind, world.model.now)
        _promise(RATED, num_ready is None or num_begun <= num_ready, f"{num_begun} of {kind}, {num_ready} were ready")


def _hold_limits(world: World, items: Sequence[Expected]) -> None:
    """Hold that there is an order of the claims in which each found room."""
    under: dict[Subject, list[int]] = {}
    for item in items:
        for subject, limit in world.controls.limits_on(item).items():
            under.setdefault(subject, []).append(limit)
    for subject, limits in under.items():
        running = num_running(world.model, subject)
        fits = all(running + place < limit for place, limit in enumerate(sorted(limits)))
        _promise(LIMITED, fits, f"{running} of {subject} ran, {len(limits)} began, limits {limits}")


def _begin(world: World, wish: Wish, claims: Iterable[Claim]) -> None:
    for claim in claims:
        item = world.model.items[claim.row]
        world.model.claim(item, claim.token, wish.lease)
        world.met.discard(claim.row)
        world.controls.draw(item.asked.kind, world.model.now)
        world.claims.append(claim)


def hold_found(world: World, wish: Wish, claims: Sequence[Claim]) -> None:
    """Hold that a claim which nobody else disturbed left nothing that it should have taken.

    Args:
        world: As it is after the claim.
        wish: What it asked for.
        claims: What it was given.
    """
    left = [i for i in world.model.items.values() if wish.is_about(i) and may_begin(world.model, world.controls, i)]
    _promise(FOUND, len(claims) == wish.limit or not left, f"{len(claims)} of {wish.limit} taken, left: {left}")
    taken = [world.model.items[claim.row] for claim in claims]
    # What has just become due is given its turn by the first claim that meets it, and has it from the next one on.
    met = [item for item in left if item.row in world.met]
    _hold_priority(taken, met)
    _hold_turns(world, wish, taken, met)
    world.met |= {item.row for item in left}


def _hold_priority(taken: Iterable[Expected], left: Sequence[Expected]) -> None:
    is_plain: Callable[[Expected], bool] = lambda i: i.asked.concurrency_key is None and i.asked.ordering_key is None  # noqa: E731 - used twice right here
    for item in filter(is_plain, taken):
        passed = [
            i for i in filter(is_plain, left) if i.org_id == item.org_id and i.asked.priority > item.asked.priority
        ]
        _promise(PRIORITY, not passed, f"{item} went before {passed}")


def _hold_turns(world: World, wish: Wish, taken: Sequence[Expected], left: Sequence[Expected]) -> None:
    served = {item.org_id for item in taken}
    waiting = {item.org_id for item in left} - served
    _promise(FAIR, not waiting or len(taken) == len(served), f"{waiting} got nothing, {len(served)} got {len(taken)}")
    for ctx in world.ground.owners:
        place = (wish.lane, wish.kinds, ctx.org_id)
        before = world.waits.pop(place, frozenset())
        if ctx.org_id in waiting:
            _promise(FAIR, not served & before, f"{ctx.org_id} waited all the time that {served & before} had two")
            world.waits[place] = before | served


def _promise(promise: str, is_kept: bool, found: object) -> None:  # noqa: FBT001 - reads like an assert
    if not is_kept:
        raise BrokenPromise(promise, found)
