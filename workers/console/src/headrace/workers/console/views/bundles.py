"""How bundles look."""

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from headrace.workers.console.cli.screen import Fields, Rows
from headrace.workers.console.views.values import shown_instant, shown_json, shown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.om.work.types.bundle import WorkBundle

COLUMNS: Final = ("ID", "STATUS", "KIND", "SETTLED", "FAILED", "CREATED", "ORIGIN")


def bundle_document(bundle: "WorkBundle") -> dict[str, Any]:
    """Return a bundle as a document."""
    return bundle.model_dump(mode="json")


def bundles_document(bundles: "Sequence[WorkBundle]", next_id: UUID | None) -> dict[str, Any]:
    """Return a page of bundles as a document."""
    return {"bundles": [bundle_document(each) for each in bundles], "next": None if next_id is None else str(next_id)}


def bundles_rows(bundles: "Sequence[WorkBundle]") -> Rows:
    """Return a page of bundles as a table."""
    return Rows(COLUMNS, [_row(bundle) for bundle in bundles], empty="no bundle is like that")


def bundle_fields(bundle: "WorkBundle") -> Fields:
    """Return all that is known of a bundle."""
    document = bundle_document(bundle)
    special = {name: shown_instant(getattr(bundle, name)) for name in ("settled_at", "created_at", "updated_at")}
    special["on_settled"] = shown_json(document["on_settled"])
    return Fields([(name, special.get(name) or shown_text(document[name])) for name in document])


def _row(bundle: "WorkBundle") -> tuple[str, ...]:
    settled = f"{bundle.num_settled}/{bundle.num_items}"
    created = shown_instant(bundle.created_at)
    return (str(bundle.id), bundle.status, bundle.kind, settled, str(bundle.num_failed), created, bundle.origin)
