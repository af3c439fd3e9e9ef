"""One item's run in a test, ended by the same rules as in a worker."""

from dataclasses import dataclass

from headrace.om.context import OpContext
from headrace.om.work import rules
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.stamping import with_follow_ups_stamped
from headrace.om.work.types.settlement import Outcome, Settlement
from headrace.om.work.types.work_item import WorkItem


@dataclass(frozen=True, slots=True)
class Ran:
    """One item that a helper ran.

    Attributes:
        item: As it was when its handler was called.
        settlement: How its run ended.
        error: What the handler raised, steering included; None where it returned.
    """

    item: WorkItem
    settlement: Settlement
    error: Exception | None = None

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return self.settlement.outcome


async def run_item(ctx: OpContext, item: WorkItem, registry: HandlerRegistry) -> Ran:
    """Call the item's handler and return how that ended; what the handler raises is an end too."""
    registered = registry.find(item.kind)
    if registered is None:
        return Ran(item, rules.released(item, f"no handler for {item.kind} is registered"))
    try:
        result = await registered.call(ctx, item, registered.payload_of(item))
        return Ran(item, with_follow_ups_stamped(ctx, rules.done(item, result)))
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends the item
        return Ran(item, rules.ended_by(item, error), error)
