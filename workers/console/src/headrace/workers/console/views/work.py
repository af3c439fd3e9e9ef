"""How work items look."""

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from headrace.workers.console.cli.screen import Fields, Line, Rows
from headrace.workers.console.views.values import first_line, shown_instant, shown_json, shown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.om.work.types.queries import RetriedItem
    from headrace.om.work.types.work_item import WorkItem

COLUMNS: Final = ("ID", "STATUS", "KIND", "LANE", "ATTEMPTS", "UPDATED", "ERROR")


def item_document(item: "WorkItem") -> dict[str, Any]:
    """Return an item as a document. Its claim token is left out: that is its holder's alone."""
    return item.model_dump(mode="json", exclude={"claim_token"})


def items_document(items: "Sequence[WorkItem]", next_id: UUID | None) -> dict[str, Any]:
    """Return a page of items as a document."""
    return {"items": [item_document(item) for item in items], "next": None if next_id is None else str(next_id)}


def items_rows(items: "Sequence[WorkItem]") -> Rows:
    """Return a page of items as a table."""
    return Rows(COLUMNS, [_row(item) for item in items], empty="no work item is like that")


def retried_document(retried: "Sequence[RetriedItem]", next_id: UUID | None) -> dict[str, Any]:
    """Return what became of each item of a retry as a document."""
    items = [{"item_id": str(each.item_id), "is_queued": each.is_queued} for each in retried]
    queued = sum(each.is_queued for each in retried)
    return {"items": items, "num_queued": queued, "next": None if next_id is None else str(next_id)}


def retried_line(retried: "Sequence[RetriedItem]") -> Line:
    """Return what became of a retry in a sentence."""
    queued = sum(each.is_queued for each in retried)
    said = f"{queued} items are queued again"
    held = len(retried) - queued
    return Line(said if not held else f"{said}; {held} stay: an unsettled item agrees with each of them")


def item_fields(item: "WorkItem") -> Fields:
    """Return all that is known of an item."""
    document = item_document(item)
    instants = ("available_at", "lease_expires_at", "started_at", "settled_at", "cancel_requested_at", "created_at")
    special = {name: shown_instant(getattr(item, name)) for name in (*instants, "updated_at")}
    special |= {"attempts": _attempts(item), "payload": shown_json(document["payload"])}
    special |= {"result": shown_json(document["result"])}
    names = [name for name in document if name != "max_attempts"]
    return Fields([(name, special.get(name) or shown_text(document[name])) for name in names])


def _row(item: "WorkItem") -> tuple[str, ...]:
    updated, error = shown_instant(item.updated_at), first_line(item.last_error)
    return (str(item.id), item.status, item.kind, item.lane, _attempts(item), updated, error)


def _attempts(item: "WorkItem") -> str:
    return f"{item.attempts}/{item.max_attempts}"
