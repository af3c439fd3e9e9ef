"""Steps of the maintenance sweep, and of time."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from om.tests.stateful.promises import GONE
from om.tests.stateful.shapes import PASSING, SKEWS, STAGGER, spans
from om.tests.stateful.stepping import QueueSteps, has_claims, has_held, has_settled
from om.tests.stateful.world import BrokenPromise


class SweepSteps(QueueSteps):
    """Leases pass and are swept, old items are purged, and workers' clocks jump."""

    @precondition(has_claims)
    @rule()
    def requeue_stale(self) -> None:
        for org_id, ctx in self.world.sweepers().items():
            num_swept = self.world.run(self.world.work.requeue_stale(ctx))
            expected = self.world.model.sweep(org_id)
            if num_swept != expected:
                raise BrokenPromise(GONE, f"{num_swept} were swept, expected {expected}")
        self.world.advance(STAGGER)

    @precondition(has_settled)
    @rule(older_than=spans)
    def purge(self, older_than: timedelta) -> None:
        settled = {row for row, item in self.world.model.items.items() if item.is_settled}
        for org_id, ctx in self.world.sweepers().items():
            num_gone = self.world.run(self.world.work.purge_items(ctx, older_than))
            expected = self.world.model.purge(org_id, older_than)
            if num_gone != expected:
                raise BrokenPromise(GONE, f"{num_gone} were purged, expected {expected}")
        self.world.begun_again |= settled - self.world.model.items.keys()

    @rule(passing=st.sampled_from(PASSING), skew=st.sampled_from(SKEWS))
    def let_time_pass(self, passing: timedelta, skew: timedelta) -> None:
        """Time passes, and the workers' clocks jump, of which nothing may come: it shows in their ids alone."""
        self.world.advance(passing)
        self.world.skew = skew

    @precondition(has_held)
    @rule(passing=st.sampled_from(PASSING))
    def let_workers_die(self, passing: timedelta) -> None:
        """Nobody settles in time: what they held is swept."""
        self.world.advance(passing)
        self.requeue_stale()
