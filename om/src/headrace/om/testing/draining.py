"""Running the queue dry: what a worker would do with what is due, in the test's own task."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, cast

from headrace.om.context import OpContext, RequestContext
from headrace.om.root import Managers
from headrace.om.testing.guard import new_request, refuse_outside_of_tests
from headrace.om.testing.running import Ran, run_item
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.work_item import WorkItem

LEASE: Final = timedelta(minutes=5)
BATCH: Final = 100


class Worked(Protocol):
    """A worker's parts, or anything that has as much."""

    @property
    def managers(self) -> Managers:
        """Over whose queue."""
        ...

    @property
    def registry(self) -> HandlerRegistry:
        """The handlers."""
        ...


class Container(Protocol):
    """A worker's container."""

    @property
    def parts(self) -> Worked:
        """The worker's parts."""
        ...


@dataclass(frozen=True, slots=True)
class _Drain:
    worked: Worked
    lane: str
    rctx: RequestContext

    async def relay(self) -> int:
        report = await self.worked.managers.outbox.relay_pending(self.rctx, BATCH)
        return report.num_relayed

    async def work(self) -> list[Ran]:
        kinds = self.worked.registry.kinds
        claimed = await self.worked.managers.work.claim_many(self.rctx, self.lane, kinds, "drain", LEASE, BATCH)
        return [await self._run(ctx, item) for ctx, item in claimed]

    async def _run(self, ctx: OpContext, item: WorkItem) -> Ran:
        ran = await run_item(ctx, item, self.worked.registry)
        await self.worked.managers.work.settle_many([(ctx, ran.settlement)])
        return ran


async def drain(container: Container | Worked, *, lane: str = "default", limit: int = 10_000) -> tuple[Ran, ...]:
    """Relay the outbox and run what is due in a lane until nothing is left, what follows included; return what ran.

    Each run ends as in a worker: a failed attempt is queued again after its delay and is then no longer due, so that it
    is tried once here. Over memory, or over a database that nobody else works on.

    Args:
        container: A worker's container, or its parts.
        lane: Whose items.
        limit: Runs after which it gives up: work that enqueues itself has no end.

    Raises:
        OutsideOfTests: No test is running.
        RecursionError: More than `limit` items came due.
    """
    refuse_outside_of_tests("drain")
    worked = cast("Worked", getattr(container, "parts", container))
    one, ran = _Drain(worked, lane, new_request()), list[Ran]()
    while len(ran) <= limit:
        num_relayed, now = await one.relay(), await one.work()
        ran += now
        if not num_relayed and not now:
            return tuple(ran)
    raise RecursionError(f"more than {limit} items came due in lane {lane!r}: work that enqueues itself has no end")
