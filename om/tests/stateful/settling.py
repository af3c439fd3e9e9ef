"""Steps of who holds a claim, and of who no longer does and writes all the same."""

from datetime import timedelta
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from headrace.om.work.exceptions import WorkClaimLost
from headrace.om.work.types.settlement import Renewal
from om.tests.stateful.ends import STALE, End, ends, follow_named, named_step
from om.tests.stateful.shapes import places, shapes, spans
from om.tests.stateful.stepping import QueueSteps
from om.tests.stateful.world import BrokenPromise, Claim

RENEWED: Final = "A renewal holds while the token does, and says whether a cancel was asked for"

NOW: Final = timedelta(0)


class SettleSteps(QueueSteps):
    """Claims are settled, renewed and reported on, in time and late."""

    @rule(pick=places, is_late=st.booleans(), end=ends, delay=spans)
    def settle(self, pick: int, end: str, delay: timedelta, *, is_late: bool) -> None:
        if (claim := self.any_claim(pick, is_late=is_late)) is None:
            return
        written = End.of(self.world, claim, end, delay)
        (settled,) = self.world.run(self.world.work.settle_many([(claim.ctx, written.settlement)]))
        written.follow(self.world, settled, STALE)

    @rule(pick=places, is_late=st.booleans(), how=st.sampled_from(("complete", "fail", "refuse", "release")))
    def settle_by_name(self, pick: int, how: str, *, is_late: bool) -> None:
        self._by_name(self.any_claim(pick, is_late=is_late), how, NOW)

    @rule(pick=places, is_late=st.booleans(), how=st.sampled_from(("defer", "park")), delay=spans)
    def hand_back(self, pick: int, how: str, delay: timedelta, *, is_late: bool) -> None:
        self._by_name(self.any_claim(pick, is_late=is_late), how, delay)

    def _by_name(self, claim: Claim | None, how: str, delay: timedelta) -> None:
        if claim is None:
            return
        step = named_step(self.world, claim, how, delay)
        if not self.world.is_held(claim):
            self.world.refused(STALE, WorkClaimLost, step)
            return
        self.world.run(step)
        follow_named(self.world, claim, how, delay)

    @rule(pick=places, is_late=st.booleans(), asked_for=st.lists(shapes, min_size=1, max_size=2))
    def complete_with_follow_ups(self, pick: int, asked_for: list[dict[str, Any]], *, is_late: bool) -> None:
        if (claim := self.any_claim(pick, is_late=is_late)) is None:
            return
        asked = [self.asked(shape) for shape in asked_for]
        then = [self.world.item(each) for each in asked]
        step = self.world.work.complete(claim.ctx, claim.item, then=then)
        if not self.world.is_held(claim):
            self.world.refused(STALE, WorkClaimLost, step)
            return
        self.world.run(step)
        follow_named(self.world, claim, "complete", NOW)
        for each in asked:
            self.world.model.enqueue(claim.ctx.org_id, each)

    @rule(pick=places, is_late=st.booleans(), lease=spans, together=st.booleans())
    def extend_lease(self, pick: int, lease: timedelta, *, is_late: bool, together: bool) -> None:
        if (claim := self.any_claim(pick, is_late=is_late)) is None:
            return
        if not self._is_renewable(claim):
            self.world.refused(STALE, WorkClaimLost, self.world.work.extend_lease(claim.ctx, claim.item, lease))
            return
        item = self.world.expected(claim)
        heard = self.world.run(self._renew(claim, lease, together=together))
        if heard is not item.is_cancel_asked:
            raise BrokenPromise(RENEWED, f"heard {heard} of {item}")
        item.lease_ends_at = self.world.model.now + lease

    @rule(pick=places, is_late=st.booleans(), progress=st.sampled_from((0.0, 0.5, 1.0)))
    def report_progress(self, pick: int, progress: float, *, is_late: bool) -> None:
        if (claim := self.any_claim(pick, is_late=is_late)) is None:
            return
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
