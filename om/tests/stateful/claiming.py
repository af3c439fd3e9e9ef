"""Steps of workers that claim, one by one and many at once."""

import asyncio
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from headrace.om.context import OpContext
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from om.tests.stateful.claim_promises import Wish, hold_found, take
from om.tests.stateful.shapes import KINDS, LANES, wishes
from om.tests.stateful.stepping import QueueSteps
from om.tests.stateful.world import Claim


class ClaimSteps(QueueSteps):
    """Workers of several kinds and lanes claim; one that never settles has crashed."""

    @rule(wanted=wishes)
    def claim(self, wanted: dict[str, Any]) -> None:
        wish = Wish(**wanted | {"limit": 1})
        claims = _claims_of(self.world.run(self._claim_next(wish)))
        self._take_alone(wish, claims)

    @rule(wanted=wishes)
    def claim_many(self, wanted: dict[str, Any]) -> None:
        self.claim_alone(Wish(**wanted))

    @rule(lease=st.sampled_from((timedelta(minutes=5), timedelta(minutes=45))))
    def claim_whatever_there_is(self, lease: timedelta) -> None:
        self.claim_alone(Wish(LANES[0], frozenset(KINDS), 100, lease))

    @rule(wanted=st.lists(wishes, min_size=2, max_size=4))
    def claim_at_once(self, wanted: list[dict[str, Any]]) -> None:
        asked = [Wish(**each) for each in wanted]
        taken = self.world.run(self._claim_at_once(asked))
        take(self.world, asked, [_claims_of(pairs) for pairs in taken])
        self.world.waits.clear()

    def claim_alone(self, wish: Wish) -> list[Claim]:
        """Claim while nobody else does, and hold what was taken and what was left to the promises."""
        claims = _claims_of(self.world.run(self._claim(wish, "alone")))
        self._take_alone(wish, claims)
        return claims

    def _take_alone(self, wish: Wish, claims: list[Claim]) -> None:
        take(self.world, [wish], [claims])
        hold_found(self.world, wish, claims)

    async def _claim_next(self, wish: Wish) -> tuple[tuple[OpContext, WorkItem], ...]:
        kinds = [WorkKind(kind) for kind in sorted(wish.kinds)]
        pair = await self.world.work.claim(self.world.ground.rctx, wish.lane, kinds, "worker", wish.lease)
        return () if pair is None else (pair,)

    async def _claim(self, wish: Wish, worker: str) -> tuple[tuple[OpContext, WorkItem], ...]:
        kinds = [WorkKind(kind) for kind in sorted(wish.kinds)]
        rctx = self.world.ground.rctx
        return await self.world.work.claim_many(rctx, wish.lane, kinds, worker, wish.lease, wish.limit)

    async def _claim_at_once(self, asked: list[Wish]) -> list[tuple[tuple[OpContext, WorkItem], ...]]:
        return await asyncio.gather(*(self._claim(wish, f"worker-{place}") for place, wish in enumerate(asked)))


def _claims_of(pairs: tuple[tuple[OpContext, WorkItem], ...]) -> list[Claim]:
    return [Claim(ctx, item) for ctx, item in pairs]
