"""How what bounds, paces and pauses claims looks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from headrace.workers.console.cli.screen import Block, Rows

if TYPE_CHECKING:
    from headrace.om.work.types.control import WorkControl, WorkControls, WorkLimit, WorkPause, WorkRate

COLUMNS: Final = ("WHAT", "OF", "AT MOST")
NONE_SAID: Final = "nothing bounds claims"


def controls_document(controls: "WorkControls") -> dict[str, Any]:
    """Return everything that is said as a document."""
    return controls.model_dump(mode="json")


def control_document(control: "WorkControl") -> dict[str, Any]:
    """Return one thing that is said as a document."""
    return control.model_dump(mode="json")


def controls_blocks(controls: "WorkControls") -> Sequence[Block]:
    """Return everything that is said for people."""
    rows = [
        *(("running", limited(each), str(each.max_running)) for each in controls.limits),
        *(("beginning", f"kind {each.kind}", paced(each)) for each in controls.rates),
        *(("paused", paused(each), "0") for each in controls.pauses),
    ]
    return (Rows(COLUMNS, rows, empty=NONE_SAID),)


def limited(limit: "WorkLimit") -> str:
    """Return what a limit counts together."""
    if limit.scope == "org":
        whose = "each org" if limit.org_id is None else f"org {limit.org_id}"
        return whose if limit.kind is None else f"{whose}, kind {limit.kind}"
    return f"kind {limit.kind}" if limit.scope == "kind" else f"each concurrency key, kind {limit.kind}"


def paced(rate: "WorkRate") -> str:
    """Return how fast a rate lets items begin."""
    return f"{rate.per_second:g} a second, {rate.burst} at once"


def paused(pause: "WorkPause") -> str:
    """Return what is paused."""
    if pause.lane is not None:
        return f"lane {pause.lane}"
    return f"kind {pause.kind}" if pause.kind is not None else f"org {pause.org_id}"
