"""What the local receiver does at each of its paths, which events go there, and how their deliveries must end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from headrace.om.work.types.work_item import WorkStatus

RETRY_AFTER: Final = timedelta(seconds=1)
"""What a 429 asks for."""


@dataclass(frozen=True, slots=True)
class Route:
    """One path of the receiver.

    Attributes:
        name: The path without its slash.
        answers: What the first, second, ... post of one message gets, the last one again and again; None never ends.
        status: Where the delivery must end.
        error_code: What a failed one must be recorded as.
        event_types: Which events go there; empty means all that go nowhere else.
        says: The above for people.
    """

    name: str
    answers: tuple[HTTPStatus | None, ...]
    status: WorkStatus
    says: str
    error_code: str | None = None
    event_types: tuple[str, ...] = ()

    def answer(self, num_before: int) -> HTTPStatus | None:
        """Returns what a post gets that comes after so many of the same message."""
        return self.answers[min(num_before, len(self.answers) - 1)]

    def num_attempts(self, max_attempts: int) -> int:
        """Returns how many attempts the delivery must take; the one that never gets an answer takes all there are."""
        return max_attempts if None in self.answers else len(self.answers)


ROUTES: Final = (
    Route("ok", (HTTPStatus.OK,), WorkStatus.DONE, says="done"),
    Route(
        "flaky",
        (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.OK),
        WorkStatus.DONE,
        event_types=("shipment.delayed", "message.posted", "number.measured", "inventory.counted"),
        says="done at the 2nd attempt",
    ),
    Route(
        "throttle",
        (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.OK),
        WorkStatus.DONE,
        event_types=("reaction.added", "note.saved", "sensor.sampled", "refund.issued"),
        says="done after Retry-After",
    ),
    Route(
        "bad",
        (HTTPStatus.BAD_REQUEST,),
        WorkStatus.FAILED,
        error_code="receiver_400",
        event_types=("payment.failed", "comment.flagged"),
        says="failed: refused",
    ),
    # One event only: what is published after the first answer finds the endpoint disabled already.
    Route(
        "gone",
        (HTTPStatus.GONE,),
        WorkStatus.FAILED,
        error_code="endpoint_gone",
        event_types=("file.uploaded",),
        says="failed, endpoint disabled",
    ),
    Route(
        "hang",
        (None,),
        WorkStatus.FAILED,
        error_code="delivery_failed",
        event_types=("export.completed", "batch.finished"),
        says="failed: no answer in time",
    ),
)


def spread(event_types: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Returns which of the events go to each route, by its name; each event goes to exactly one."""
    taken = {event_type for route in ROUTES for event_type in route.event_types}
    rest = tuple(event_type for event_type in event_types if event_type not in taken)
    return {
        route.name: tuple(each for each in event_types if each in route.event_types) if route.event_types else rest
        for route in ROUTES
    }
