"""How the state of an org's work looks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from headrace.workers.console.cli.screen import Block, Fields, Line, Rows
from headrace.workers.console.views.controls import paused
from headrace.workers.console.views.values import seconds_of, shown_duration, shown_instant, shown_text

if TYPE_CHECKING:
    from headrace.workers.console.actions.status import Status

WORKER_COLUMNS: Final = ("WORKER", "LANE", "RUNNING", "RELEASE", "STARTED", "KINDS")
NOT_SEEN: Final = (
    "workers cannot be seen: the cache does not answer, or it is in memory, each process's own"
    " (HEADRACE_CACHE_BACKEND=redis shares it)"
)


def status_document(status: "Status") -> dict[str, Any]:
    """Return the state as a document."""
    return {
        "org": {"id": str(status.org.id), "name": status.org.name},
        "work": {
            "counts": [count.model_dump(mode="json") for count in status.work.counts],
            "oldest_waiting_seconds": seconds_of(status.work.oldest_waiting),
            "num_dead_letters": status.num_dead_letters,
            "pauses": [pause.model_dump(mode="json") for pause in status.work.pauses],
        },
        "outbox": {"num_pending": status.outbox.num_pending, "lag_seconds": seconds_of(status.outbox.lag)},
        "workers": [{"worker": name, **said} for name, said in status.workers.items()],
        "sees_workers": status.sees_workers,
    }


def status_blocks(status: "Status") -> Sequence[Block]:
    """Return the state for people."""
    dead = f"{status.num_dead_letters}"
    if status.num_dead_letters:
        dead += "  (`headrace work list --status failed` shows them)"
    numbers = [
        ("org", f"{status.org.name} ({status.org.id})"),
        ("oldest waiting", shown_duration(status.work.oldest_waiting)),
        ("dead letters", dead),
        ("paused", ", ".join(paused(each) for each in status.work.pauses) or "nothing"),
        ("outbox", f"{status.outbox.num_pending} pending, lag {shown_duration(status.outbox.lag)}"),
    ]
    counts = [(each.status, each.kind, each.lane, str(each.num_items)) for each in status.work.counts]
    work = Rows(("STATUS", "KIND", "LANE", "ITEMS"), counts, empty="no work items yet")
    return Fields(numbers), work, _workers(status)


def _workers(status: "Status") -> Block:
    if not status.sees_workers:
        return Line(NOT_SEEN)
    rows = [_worker(name, said) for name, said in status.workers.items()]
    return Rows(WORKER_COLUMNS, rows, empty="no worker is alive")


def _worker(name: str, said: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = said.get("kinds")
    listed = ", ".join(map(str, kinds)) if isinstance(kinds, list) else None
    running = f"{said.get('running', '?')}/{said.get('capacity', '?')}"
    lane, release = (shown_text(said.get(each)) for each in ("lane", "release"))
    return (name, lane, running, release, _instant(said.get("started_at")), shown_text(listed))


def _instant(said: object) -> str:
    try:
        return shown_instant(datetime.fromisoformat(str(said)))
    except ValueError:
        return shown_text(said)
