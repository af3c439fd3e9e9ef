"""Steps in which ends meet: several together, one that is written again, two of one claim, an end beside a sweep."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from om.tests.stateful.ends import STALE, End, ends
from om.tests.stateful.shapes import STAGGER, places
from om.tests.stateful.stepping import QueueSteps, has_claims, has_held, has_written
from om.tests.stateful.world import BrokenPromise

ONCE: Final = "A settlement that comes again is known, and written once"
TOGETHER: Final = "Of settlements written together each is recorded by its own token alone"
ONE_WINS: Final = "Of two ends of one claim one is recorded"

DELAY: Final = timedelta(minutes=15)


class SettleAgainSteps(QueueSteps):
    """Ends that meet other ends."""

    @precondition(has_claims)
    @rule(picks=st.lists(st.tuples(places, st.booleans(), ends), min_size=2, max_size=5))
    def settle_together(self, picks: list[tuple[int, bool, str]]) -> None:
        for written, settled in self._settled_in(self._chosen(picks), at_once=False):
            written.follow(self.world, settled, TOGETHER)

    @precondition(has_claims)
    @rule(picks=st.lists(st.tuples(places, st.booleans(), ends), min_size=2, max_size=5))
    def settle_at_once(self, picks: list[tuple[int, bool, str]]) -> None:
        """Many workers end their claims at the same moment, of one bundle perhaps."""
        for written, settled in self._settled_in(self._chosen(picks), at_once=True):
            written.follow(self.world, settled, TOGETHER)

    def _chosen(self, picks: list[tuple[int, bool, str]]) -> list[End]:
        """Return an end for each of some claims, each of which is chosen once."""
        claims = [(self.any_claim(pick, is_late=is_late), end) for pick, is_late, end in picks]
        chosen = {claim.token: (claim, end) for claim, end in claims}
        return [End.of(self.world, claim, end, DELAY) for claim, end in chosen.values()]

    def _settled_in(self, ended: list[End], *, at_once: bool) -> list[tuple[End, Any]]:
        settle = self.world.work.settle_many
        pairs = [(each.claim.ctx, each.settlement) for each in ended]
        if not at_once:
            return list(zip(ended, self.world.run(settle(pairs)), strict=True))
        answers = self.world.run(_at_once(*(settle([pair]) for pair in pairs)))
        return [(each, answer[0]) for each, answer in zip(ended, answers, strict=True)]

    @precondition(has_written)
    @rule(pick=places)
    def settle_again(self, pick: int) -> None:
        """The answer to a settlement was lost: it is written once more."""
        ended = [claim for claim in self.world.claims if claim.written is not None]
        claim = ended[-1 - pick % len(ended)]
        assert claim.written is not None
        item = self.world.model.items.get(claim.row)
        is_known = item is not None and item.settlement_id == claim.written.settlement_id
        before = self.world.read()
        (again,) = self.world.run(self.world.work.settle_many([(claim.ctx, claim.written)]))
        if again.is_recorded != is_known or self.world.read() != before:
            raise BrokenPromise(ONCE, f"{again} of {claim.written}, known: {is_known}")

    @precondition(has_held)
    @rule(pick=places, both=st.tuples(ends, ends))
    def settle_in_a_race(self, pick: int, both: tuple[str, str]) -> None:
        """Two ends of one claim at once: one of them is written, whichever."""
        claim = self.any_claim(pick)
        rivals = [End.of(self.world, claim, end, DELAY) for end in both]
        steps = (self.world.work.settle_many([(claim.ctx, each.settlement)]) for each in rivals)
        answers = self.world.run(_at_once(*steps))
        won = [(each, answer[0]) for each, answer in zip(rivals, answers, strict=True) if answer[0].is_recorded]
        if len(won) != 1:
            raise BrokenPromise(ONE_WINS, answers)
        won[0][0].follow(self.world, won[0][1], STALE)

    @precondition(has_held)
    @rule(pick=places, end=ends)
    def settle_beside_a_sweep(self, pick: int, end: str) -> None:
        """A late holder's end and the sweep that takes its claim back, at once: the end is written, or the sweep is."""
        claim = self.any_claim(pick)
        written = End.of(self.world, claim, end, DELAY)
        settled, num_swept = self.world.run(self._beside_a_sweep(written))
        if settled.is_recorded:
            written.follow(self.world, settled, STALE)
        if num_swept != self.world.model.sweep(claim.ctx.org_id):
            raise BrokenPromise(ONE_WINS, f"{settled}, and {num_swept} were swept")
        self.world.advance(STAGGER)

    async def _beside_a_sweep(self, written: End) -> tuple[Any, int]:
        ctx = written.claim.ctx
        sweep = self.world.work.requeue_stale(self.world.ground.sweepers[ctx.org_id])
        settled, num_swept = await asyncio.gather(self.world.work.settle_many([(ctx, written.settlement)]), sweep)
        return settled[0], num_swept


async def _at_once[Answer](*steps: Coroutine[object, object, Answer]) -> list[Answer]:
    return await asyncio.gather(*steps)
