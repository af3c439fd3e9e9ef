"""The columns that an insert of items fills, once for the statements and once for the values.

Each column travels as one array, so that one statement inserts any number of items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from headrace.om.encoding import encode_json
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES, WorkItem


def payload_json(item: WorkItem) -> str:
    """Return the payload as JSON text, refusing what the database cannot hold."""
    return encode_json("payload", item.payload.thawed(), limit_bytes=MAX_PAYLOAD_BYTES)


def text_array(item: WorkItem) -> str | None:
    """Return the fields that an item is unique for as an array literal: unnest would flatten arrays of arrays."""
    if item.unique_for is None:
        return None
    quoted = (name.replace("\\", "\\\\").replace('"', '\\"') for name in item.unique_for)
    return "{" + ",".join(f'"{name}"' for name in quoted) + "}"


@dataclass(frozen=True, slots=True)
class ItemColumn:
    """One column: its name, the type that its array travels as, how it is written, and its value of an item."""

    name: str
    type: str
    value: Callable[[WorkItem], Any]
    written: str = "n.{name}"


def _same(name: str, type_: str) -> ItemColumn:
    return ItemColumn(name, type_, attrgetter(name))


ITEM_COLUMNS: Final = (
    _same("id", "uuid"),
    ItemColumn("kind", "text", lambda item: item.kind.value),
    _same("lane", "text"),
    _same("origin", "text"),
    _same("target_id", "uuid"),
    _same("idempotency_key", "text"),
    ItemColumn("unique_for", "text", text_array, "n.{name}::text[]"),
    _same("unique_hash", "uuid"),
    _same("bundle_id", "uuid"),
    _same("request_id", "uuid"),
    _same("traceparent", "text"),
    ItemColumn("payload", "text", payload_json, "n.{name}::jsonb"),
    _same("priority", "smallint"),
    ItemColumn("available_at", "timestamptz", attrgetter("available_at"), "coalesce(n.{name}, now())"),
    _same("max_attempts", "integer"),
    _same("created_at", "timestamptz"),
    _same("created_by", "uuid"),
    _same("updated_at", "timestamptz"),
    _same("updated_by", "uuid"),
)

INSERTED_NAMES: Final = ", ".join(("org_id", *(column.name for column in ITEM_COLUMNS), "status"))
"""What an insert names; the tenant stands first, the status last."""

NAMES: Final = ", ".join(column.name for column in ITEM_COLUMNS)

WRITTEN: Final = ", ".join(column.written.format(name=column.name) for column in ITEM_COLUMNS)
"""The values of the columns, from rows that a statement calls n."""


def unnested(first: int) -> str:
    """Return the arrays of all columns as rows, from parameter number `first` on."""
    arrays = (f"${first + place}::{column.type}[]" for place, column in enumerate(ITEM_COLUMNS))
    return f"unnest({', '.join(arrays)})"


def insert_columns(items: Sequence[WorkItem]) -> tuple[list[Any], ...]:
    """Return the items as the arrays that `unnested` names, column by column."""
    return tuple([column.value(item) for item in items] for column in ITEM_COLUMNS)
