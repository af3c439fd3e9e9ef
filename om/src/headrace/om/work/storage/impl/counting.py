"""The part of a statement that counts items in their bundles, in the transaction that settles or retries them.

Spells `bundling.counted` and `bundling.follow_up_of` once more. Every statement that ends an item, or begins one again,
has this part, and every one of them locks in one order: items by tenant and id, then bundles by tenant and id, then the
unique entries of what follows.
"""

from typing import Final

from headrace.om.work.bundling import KEY_PREFIX
from headrace.om.work.storage.impl.item_columns import INSERTED_NAMES, ITEM_COLUMNS

PLATFORM: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
"""Who signs every write after the enqueue."""

SETTLED: Final = "('done', 'failed', 'cancelled')"

_OF_FOLLOW_UP: Final = {
    "id": "b.follow_up_id",
    "kind": "b.on_settled ->> 'kind'",
    "lane": "b.on_settled ->> 'lane'",
    "origin": "b.origin",
    "idempotency_key": f"'{KEY_PREFIX}' || b.id",
    "unique_for": "NULL::text[]",
    "request_id": "b.request_id",
    "traceparent": "b.traceparent",
    "payload": "b.on_settled -> 'payload'",
    "priority": "(b.on_settled ->> 'priority')::smallint",
    "line": "0",
    "available_at": "now()",
    "max_attempts": "(b.on_settled ->> 'max_attempts')::integer",
    "created_at": "now()",
    "created_by": "b.created_by",
    "updated_at": "now()",
    "updated_by": "b.created_by",
}
"""What an item that follows a bundle called b holds; nothing in every other column."""

FOLLOW_UPS: Final = f"""
    SELECT b.org_id, {", ".join(_OF_FOLLOW_UP.get(each.name, f"NULL::{each.type}") for each in ITEM_COLUMNS)},
        'queued', NULL::uuid
    FROM bundles AS b
    WHERE b.status = 'settled' AND b.follow_up_id IS NOT NULL
"""
"""The items that follow the bundles which have just settled, in the columns of an insert; a claim gives them turns."""


def ended(rows: str, *, status: str = "status", where: str = f"status IN {SETTLED}", by: int = 1) -> str:
    """Return the first of the parts: which bundles' items a statement ended, or began again.

    Args:
        rows: The statement's own part whose rows are the items.
        status: How each ended, of these rows; for one that begins again, how it had ended.
        where: Which of the rows count.
        by: 1 where they end, -1 where they begin again.
    """
    return f"""
    ends AS (
        SELECT org_id, bundle_id, {status} AS status, {by} AS by FROM {rows} WHERE bundle_id IS NOT NULL AND {where}
    )"""


COUNTED: Final = f"""
    counted AS (
        SELECT org_id, bundle_id,
            coalesce(sum(by) FILTER (WHERE status = 'done'), 0)::integer AS num_done,
            coalesce(sum(by) FILTER (WHERE status = 'failed'), 0)::integer AS num_failed,
            coalesce(sum(by) FILTER (WHERE status = 'cancelled'), 0)::integer AS num_cancelled
        FROM ends GROUP BY org_id, bundle_id
    ),
    -- The locks, in one order whatever the plan of the update is.
    locked AS (
        SELECT b.org_id, b.id FROM queue.work_bundles AS b
        JOIN counted AS c ON b.org_id = c.org_id AND b.id = c.bundle_id
        ORDER BY b.org_id, b.id FOR UPDATE OF b
    ),
    bundles AS (
        UPDATE queue.work_bundles AS b SET
            num_done = b.num_done + c.num_done,
            num_failed = b.num_failed + c.num_failed,
            num_cancelled = b.num_cancelled + c.num_cancelled,
            status = CASE WHEN {{all_ended}} THEN 'settled' ELSE 'open' END,
            settled_at = CASE WHEN {{all_ended}} THEN now() END,
            updated_at = now(), updated_by = {PLATFORM}
        FROM counted AS c
        CROSS JOIN (SELECT count(*) FROM locked) AS every_lock
        WHERE b.org_id = c.org_id AND b.id = c.bundle_id
        RETURNING b.*
    )""".format(
    all_ended="b.num_done + b.num_failed + b.num_cancelled + c.num_done + c.num_failed + c.num_cancelled >= b.num_items"
)
"""The parts that lock the bundles of `ends` and move their counters; `bundles` are the bundles as they stand then."""

FOLLOWED: Final = f"""
    followed AS (
        INSERT INTO queue.work_items ({INSERTED_NAMES})
        {FOLLOW_UPS}
        ORDER BY b.org_id, b.id
        ON CONFLICT DO NOTHING
    )"""
"""The last part: what follows the bundles. A bundle that settled before has been followed, and keeps its one item."""


def counting(rows: str, *, status: str = "status", where: str = f"status IN {SETTLED}", by: int = 1) -> str:
    """Return all parts, for a statement after whose own parts nothing is enqueued but what follows bundles."""
    return ",".join((ended(rows, status=status, where=where, by=by), COUNTED, FOLLOWED))
