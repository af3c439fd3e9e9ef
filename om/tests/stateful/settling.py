"""Steps of who holds a claim, and of who no longer does and writes all the same."""

from datetime import timedelta
from itertools import cycle
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from headrace.om.work.exceptions import WorkClaimLost
from headrace.om.work.types.settlement import Renewal
from om.tests.stateful.claim_promises import Wish
from om.tests.stateful.claiming import ClaimSteps
from om.tests.stateful.ends import STALE, End, ends, follow_named, named_step
from om.tests.stateful.enqueueing import first_of_those_that_agree
from om.tests.stateful.shapes import KINDS, LANES, PASSING, places, shapes, spans
from om.tests.stateful.stepping import has_claims
from om.tests.stateful.world import BrokenPromise, Claim

RENEWED: Final = "A renewal holds while the token does, and says whether a cancel was asked for"

NOW: Final = timedelta(0)
METHODS: Final = ("complete", "fail", "refuse", "release", "defer", "park")


class SettleSteps(ClaimSteps):
    """Claims are settled, renewed and reported on, in time and late."""

    @precondition(has_claims)
    @rule(pick=places, is_late=st.booleans(), end=ends, delay=spans)
    def settle(self, pick: int, end: str, delay: timedelta, *, is_late: bool) -> None:
        claim = self.any_claim(pick, is_late=is_late)
        written = End.of(self.world, claim, end, delay)
        (settled,) = self.world.run(self.world.work.settle_many([(claim.ctx, written.settlement)]))
        written.follow(self.world, settled, STALE)

    @rule(
        passing=st.sampled_from((NOW, *PASSING)),
        in_turn=st.lists(ends, min_size=1, max_size=3),
        lane=st.sampled_from((*LANES, LANES[0])),
        delay=spans,
    )
    def claim_and_settle_all(self, passing: timedelta, in_turn: list[str], lane: str, delay: timedelta) -> None:
        """A worker runs everything that it finds, perhaps after a while."""
        self.world.advance(passing)
        claims = self.claim_alone(Wish(lane, frozenset(KINDS), 100, timedelta(minutes=15)))
        for claim, end in zip(claims, cycle(in_turn), strict=False):
            written = End.of(self.world, claim, end, delay)
            (settled,) = self.world.run(self.world.work.settle_many([(claim.ctx, written.settlement)]))
            written.follow(self.world, settled, STALE)

    @precondition(has_claims)
    @rule(pick=places, is_late=st.booleans(), how=st.sampled_from(METHODS), delay=spans)
    def settle_by_name(self, pick: int, how: str, delay: timedelta, *, is_late: bool) -> None:
        claim = self.any_claim(pick, is_late=is_late)
        delay = delay if how in {"defer", "park"} else NOW
        step = named_step(self.world, claim, how, delay)
        if not self.world.is_held(claim):
            self.world.refused(STALE, WorkClaimLost, step)
            return
        self.world.run(step)
        follow_named(self.world, claim, how, delay)

    @precondition(has_claims)
    @rule(pick=places, is_late=st.booleans(), asked_for=st.lists(shapes, min_size=1, max_size=2))
    def complete_with_follow_ups(self, pick: int, asked_for: list[dict[str, Any]], *, is_late: bool) -> None:
        claim = self.any_claim(pick, is_late=is_late)
        asked = first_of_those_that_agree([self.asked(shape) for shape in asked_for])
        then = [self.world.item(each) for each in asked]
        step = self.world.work.complete(claim.ctx, claim.item, then=then)
        if not self.world.is_held(claim):
            self.world.refused(STALE, WorkClaimLost, step)
            return
        self.world.run(step)
        follow_named(self.world, claim, "complete", NOW)
        for each in asked:
            self.world.model.enqueue(claim.ctx.org_id, each)

    @precondition(has_claims)
    @rule(pick=places, is_late=st.booleans(), lease=spans, together=st.booleans())
    def extend_lease(self, pick: int, lease: timedelta, *, is_late: bool, together: bool) -> None:
        claim = self.any_claim(pick, is_late=is_late)
        if not self._is_renewable(claim):
            self.world.refused(STALE, WorkClaimLost, self.world.work.extend_lease(claim.ctx, claim.item, lease))
            return
        item = self.world.expected(claim)
        heard = self.world.run(self._renew(claim, lease, together=together))
        if heard is not item.is_cancel_asked:
            raise BrokenPromise(RENEWED, f"heard {heard} of {item}")
        item.lease_ends_at = self.world.model.now + lease

    @precondition(has_claims)
    @rule(pick=places, is_late=st.booleans(), progress=st.sampled_from((0.0, 0.5, 1.0)))
    def report_progress(self, pick: int, progress: float, *, is_late: bool) -> None:
        claim = self.any_claim(pick, is_late=is_late)
        step = self.world.work.report_progress(claim.ctx, claim.item, progress, "so far")
        if not self.world.is_held(claim):
            self.world.refused(STALE, WorkClaimLost, step)
            return
        self.world.run(step)

    async def _renew(self, claim: Claim, lease: timedelta, *, together: bool) -> bool | None:
        """Return whether a cancel was asked for; None where the renewal is missing from the answer."""
        if not together:
            return (await self.world.work.extend_lease(claim.ctx, claim.item, lease)).is_cancel_requested
        renewal = Renewal(item_id=claim.item.id, claim_token=claim.token)
        held = await self.world.work.renew_many([(claim.ctx, renewal)], lease)
        return held[0].is_cancel_requested if held else None

    def _is_renewable(self, claim: Claim) -> bool:
        """A claim with a concurrency key whose lease has passed may have lost its place."""
        if not self.world.is_held(claim):
            return False
        item = self.world.expected(claim)
        return item.asked.concurrency_key is None or self.world.model.is_live(item)
