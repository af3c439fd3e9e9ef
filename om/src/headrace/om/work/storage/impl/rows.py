"""Between a row of `queue.work_items` and a `WorkItem`: the one place that knows both."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from headrace.om.base import FrozenMapping
from headrace.om.encoding import encode_json
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES, WorkItem, WorkStatus

TAKEN_AS_THEY_ARE: Final = tuple(
    name for name in WorkItem.model_fields if name not in {"kind", "status", "payload", "result"}
)


def item_of(row: Mapping[str, Any]) -> WorkItem:
    """Return the item that a row holds; it was validated when it was written, so it is not validated again."""
    return WorkItem.model_construct(
        kind=WorkKind(row["kind"]),
        status=WorkStatus(row["status"]),
        payload=FrozenMapping(json.loads(row["payload"])),
        result=None if row["result"] is None else json.loads(row["result"]),
        **{name: row[name] for name in TAKEN_AS_THEY_ARE},
    )


def payload_json(item: WorkItem) -> str:
    """Return the payload as JSON text, refusing what the database cannot hold."""
    return encode_json("payload", item.payload.thawed(), limit_bytes=MAX_PAYLOAD_BYTES)


def insert_columns(items: Sequence[WorkItem]) -> tuple[list[Any], ...]:
    """Return the items as the arrays that `CREATE_ITEMS` takes after the tenant, column by column."""
    return (
        [item.id for item in items],
        [item.kind.value for item in items],
        [item.lane for item in items],
        [item.origin for item in items],
        [item.target_id for item in items],
        [item.idempotency_key for item in items],
        [item.request_id for item in items],
        [item.traceparent for item in items],
        [payload_json(item) for item in items],
        [item.priority for item in items],
        [item.available_at for item in items],
        [item.max_attempts for item in items],
        [item.created_at for item in items],
        [item.created_by for item in items],
        [item.updated_at for item in items],
        [item.updated_by for item in items],
    )
