"""The claim that the running code works under, for handlers that want to look before an outside effect."""

from contextvars import Context, ContextVar
from typing import Final

from headrace.om.work.types.handler import Claim

_CURRENT: Final[ContextVar[Claim | None]] = ContextVar("headrace_current_claim", default=None)


def current_claim() -> Claim:
    """Return the claim of the item that the calling task or thread works on.

    Works in the handler, in tasks that it starts and in functions given to `run_in_thread`.

    Raises:
        LookupError: Nothing runs under a claim here.
    """
    if (claim := _CURRENT.get()) is None:
        raise LookupError("no claim here: current_claim() is for code that a worker's handler runs")
    return claim


def is_under_claim(context: Context | None) -> bool:
    """Return whether code in this context, or in the caller's own, runs under a claim."""
    return (_CURRENT.get() if context is None else context.get(_CURRENT)) is not None


def enter_claim(claim: Claim) -> None:
    """Make the claim the current one for the rest of the calling task."""
    _CURRENT.set(claim)
