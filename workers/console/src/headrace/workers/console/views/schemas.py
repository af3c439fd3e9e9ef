"""How the schemas look."""

from typing import TYPE_CHECKING, Any

from headrace.workers.console.cli.screen import Rows
from headrace.workers.console.views.values import shown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.workers.console.actions.migrating import RoleSchema


def schemas_document(schemas: "Sequence[RoleSchema]", differences: "Sequence[str]") -> dict[str, Any]:
    """Return the schemas as a document."""
    return {
        "roles": [
            {"role": each.role, "revision": each.revision, "pending": list(each.pending), "state": str(each.state)}
            for each in schemas
        ],
        "differences": list(differences),
    }


def schemas_rows(schemas: "Sequence[RoleSchema]") -> Rows:
    """Return the schemas as a table."""
    rows = [(each.role, each.state, shown_text(each.revision), shown_text(", ".join(each.pending))) for each in schemas]
    return Rows(("ROLE", "STATE", "REVISION", "PENDING"), rows)
