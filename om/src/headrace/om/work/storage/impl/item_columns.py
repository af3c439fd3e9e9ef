"""The columns that an insert of items fills, once for the statements and once for the values.

Each column travels as one array, so that one statement inserts any number of items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final

from headrace.om.base import EMPTY_UUID
from headrace.om.encoding import encode_json
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES, WorkItem


def payload_json(item: WorkItem) -> str:
    """Return the payload as JSON text, refusing what the database cannot hold."""
    return encode_json("payload", item.payload, limit_bytes=MAX_PAYLOAD_BYTES)


def text_array(item: WorkItem) -> str | None:
    """Return the fields that an item is unique for as an array literal: unnest would flatten arrays of arrays."""
    if item.unique_for is None:
        return None
    quoted = (name.replace("\\", "\\\\").replace('"', '\\"') for name in item.unique_for)
    return "{" + ",".join(f'"{name}"' for name in quoted) + "}"


def line_of(item: WorkItem) -> int:
    """Return a digest of the item's key, above zero; zero where it has none.

    Claims find the keys of an org by it, in an order that has nothing to do with their text. It decides nothing: two
    keys of one digest would merely be looked at together.
    """
    key = item.ordering_key or item.concurrency_key
    if key is None:
        return 0
    kind = "ordering" if item.ordering_key else "concurrency"
    digest = int.from_bytes(blake2b(f"{kind}:{key}".encode(), digest_size=8).digest())
    return max(digest >> 1, 1)


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
    _same("concurrency_key", "text"),
    _same("ordering_key", "text"),
    ItemColumn("line", "bigint", line_of),
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

INSERTED_NAMES: Final = ", ".join(("org_id", *(column.name for column in ITEM_COLUMNS), "status", "turn"))
"""What an insert names; the tenant stands first, the status and the turn last."""

NAMES: Final = ", ".join((*(column.name for column in ITEM_COLUMNS), "is_fair"))
"""What `unnested` holds; whether each org has a turn of its own comes last."""


def written(org: str) -> str:
    """Return the values of an insert's columns after the tenant, from rows that a statement calls n.

    An item that is due at once waits for its org's turn, or for the one that all share; any other for its time. One
    with a key always waits for its org's, since keys are the org's.

    Args:
        org: The tenant, as the statement has it.
    """
    values = [column.written.format(name=column.name) for column in ITEM_COLUMNS]
    turn = f"""
        CASE WHEN n.available_at IS NULL OR n.available_at <= now() THEN
            CASE WHEN n.is_fair OR n.line <> 0 THEN {org} ELSE '{EMPTY_UUID}'::uuid END
        END
    """
    return ", ".join((*values, "'queued'", turn))


def unnested(first: int) -> str:
    """Return the arrays of all columns as rows, from parameter number `first` on."""
    types = (*(column.type for column in ITEM_COLUMNS), "boolean")
    return f"unnest({', '.join(f'${first + place}::{each}[]' for place, each in enumerate(types))})"


def placed(first: int) -> str:
    """Return one item's values as a row of the columns that `NAMES` names, from parameter number `first` on."""
    types = (*(column.type for column in ITEM_COLUMNS), "boolean")
    return f"(VALUES ({', '.join(f'${first + place}::{each}' for place, each in enumerate(types))}))"


def insert_values(item: WorkItem, *, fair_share: bool) -> tuple[Any, ...]:
    """Return the item as the values that `placed` names."""
    return (*(column.value(item) for column in ITEM_COLUMNS), fair_share)


def insert_columns(items: Sequence[WorkItem], *, fair_share: bool) -> tuple[list[Any], ...]:
    """Return the items as the arrays that `unnested` names, column by column."""
    columns = ([column.value(item) for item in items] for column in ITEM_COLUMNS)
    return (*columns, [fair_share] * len(items))
