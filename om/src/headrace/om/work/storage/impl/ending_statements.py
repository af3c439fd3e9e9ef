"""The statements that end items, or begin them again: settlements, the sweep, operators. Each counts in bundles.

As in `statements`: every instant compared is the database's `now()`, and a statement of one tenant names the tenant.
"""

from typing import Final

from headrace.om.work.storage.impl.counting import COUNTED, FOLLOW_UPS, PLATFORM, SETTLED, counting, ended
from headrace.om.work.storage.impl.item_columns import INSERTED_NAMES, NAMES, unnested, written
from headrace.om.work.storage.impl.statements import FIELDS, statement

NUM_SETTLE_ARRAYS: Final = 11
"""Arrays that describe settlements; those of their follow-ups come after."""

_SETTLE: Final = f"""
    UPDATE queue.work_items AS i SET
        status = CASE WHEN s.status = 'queued' AND i.cancel_requested_at IS NOT NULL THEN 'cancelled' ELSE s.status END,
        settled_at = CASE WHEN s.status <> 'queued' OR i.cancel_requested_at IS NOT NULL THEN now() END,
        available_at = CASE WHEN s.status = 'queued' THEN coalesce(s.until, now() + s.delay) ELSE i.available_at END,
        attempts = i.attempts - s.refund,
        crashes = CASE WHEN s.status = 'done' THEN 0 ELSE i.crashes END,
        last_error = CASE WHEN s.status = 'done' THEN NULL ELSE coalesce(s.last_error, i.last_error) END,
        error_code = CASE WHEN s.status = 'done' THEN NULL ELSE coalesce(s.error_code, i.error_code) END,
        result = s.result::jsonb,
        claim_token = NULL, lease_expires_at = NULL, settlement_id = s.settlement_id,
        claimed_by = CASE WHEN s.status = 'queued' THEN NULL ELSE i.claimed_by END,
        updated_at = now(), updated_by = {PLATFORM}
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::interval[], $6::timestamptz[], $7::integer[], $8::text[],
        $9::text[], $10::text[], $11::uuid[]
    ) AS s (org_id, id, token, status, delay, until, refund, last_error, error_code, result, settlement_id)
    WHERE i.org_id = s.org_id AND i.id = s.id AND i.claim_token = s.token
"""

SETTLE_BATCH: Final = statement(
    "settle_batch",
    # The token alone is the fence: every transition clears it. A cancel that was asked for wins over queueing again.
    # An item of a bundle is none of this statement's: it would not be counted.
    f"{_SETTLE} AND i.bundle_id IS NULL RETURNING s.token, i.status",
)

SETTLE_COUNTED: Final = statement(
    "settle_counted",
    # The same for items of bundles and for those that are followed by others, which are enqueued only where the
    # settlement is recorded. Everything that is enqueued goes in at the end and in one order.
    f"""
    WITH settled AS ({_SETTLE} RETURNING i.org_id, i.bundle_id, s.token, i.status),
    {ended("settled")}, {COUNTED},
    enqueued AS (
        INSERT INTO queue.work_items ({INSERTED_NAMES})
        SELECT * FROM (
            SELECT s.org_id, {written("s.org_id")}
            FROM unnest(${NUM_SETTLE_ARRAYS + 1}::uuid[]) WITH ORDINALITY AS t (token, position)
            JOIN {unnested(first=NUM_SETTLE_ARRAYS + 2)} WITH ORDINALITY AS n ({NAMES}, position)
                ON n.position = t.position
            JOIN settled AS s ON s.token = t.token
            UNION ALL
            {FOLLOW_UPS}
        ) AS a ({INSERTED_NAMES})
        ORDER BY a.org_id, a.unique_hash NULLS LAST, a.idempotency_key NULLS LAST, a.id
        ON CONFLICT DO NOTHING
    )
    SELECT s.token, s.status, b.id AS settled_bundle_id
    FROM settled AS s
    LEFT JOIN bundles AS b
        ON b.org_id = s.org_id AND b.id = s.bundle_id AND b.status = 'settled' AND s.status IN {SETTLED}
    """,
)

FIND_SETTLED: Final = statement(
    "find_settled",
    # Finds settlements that were written before, by their own ids, among those whose token holds nothing any more.
    """
    SELECT s.settlement_id, i.status
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS s (org_id, id, settlement_id)
    JOIN queue.work_items AS i ON i.org_id = s.org_id AND i.id = s.id AND i.settlement_id = s.settlement_id
    """,
)

REQUEUE_STALE: Final = statement(
    "requeue_stale",
    # Spells `rules.is_stale`, `rules.stale_status` and `rules.requeue_stagger` once more. FOR UPDATE looks at the
    # lease again on the locked row, so that a claim renewed or settled in between is left alone.
    f"""
    WITH stale AS (
        SELECT id FROM queue.work_items
        WHERE org_id = $1 AND status = 'claimed' AND lease_expires_at < now() - $2::interval
        ORDER BY lease_expires_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
    ),
    placed AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS position FROM stale),
    swept AS (
        UPDATE queue.work_items AS i SET
            status = CASE
                WHEN i.cancel_requested_at IS NOT NULL THEN 'cancelled'
                WHEN i.attempts >= i.max_attempts OR i.crashes + 1 >= $4 THEN 'failed'
                ELSE 'queued'
            END,
            settled_at = CASE
                WHEN i.cancel_requested_at IS NOT NULL OR i.attempts >= i.max_attempts OR i.crashes + 1 >= $4 THEN now()
            END,
            available_at = now() + least(placed.position * $5::interval, $6::interval),
            crashes = i.crashes + 1,
            last_error = $7, error_code = 'lease_passed',
            claim_token = NULL, lease_expires_at = NULL,
            updated_at = now(), updated_by = {PLATFORM}
        FROM placed WHERE i.org_id = $1 AND i.id = placed.id
        RETURNING i.*
    ),
    {counting("swept")}
    SELECT {FIELDS} FROM swept
    """,
)

FAIL_ORPHANED: Final = statement(
    "fail_orphaned",
    # Takes the token away too: whoever still holds one of these finds the claim lost.
    f"""
    WITH failed AS (
        UPDATE queue.work_items SET
            status = 'failed', settled_at = now(), last_error = $3, error_code = 'tenant_gone',
            claim_token = NULL, lease_expires_at = NULL, updated_at = now(), updated_by = {PLATFORM}
        WHERE org_id = $1 AND id = ANY(ARRAY(
            SELECT id FROM queue.work_items WHERE org_id = $1 AND status IN ('queued', 'claimed')
            ORDER BY id LIMIT $2 FOR UPDATE
        ))
        RETURNING *
    ),
    {counting("failed")}
    SELECT id FROM failed
    """,
)

AS_CANCELLED: Final = f"""
    status = CASE WHEN i.status = 'queued' THEN 'cancelled' ELSE i.status END,
    settled_at = CASE WHEN i.status = 'queued' THEN now() END,
    cancel_requested_at = coalesce(i.cancel_requested_at, now()), updated_at = now(), updated_by = {PLATFORM}
"""
"""What a cancel sets: a queued item ends, a claimed one is flagged, and its holder learns it at the next renewal."""

CANCEL_ITEM: Final = statement(
    "cancel_item",
    # Reads the status on the row that it locks.
    f"""
    WITH asked AS (
        UPDATE queue.work_items AS i SET {AS_CANCELLED}
        WHERE org_id = $1 AND id = $2 AND status IN ('queued', 'claimed')
        RETURNING i.*
    ),
    {counting("asked")}
    SELECT {FIELDS} FROM asked
    """,
)

AS_NEW: Final = f"""
    status = 'queued', available_at = now(), attempts = 0, crashes = 0, claimed_by = NULL, last_error = NULL,
    error_code = NULL, result = NULL, progress = NULL, progress_note = NULL, started_at = NULL,
    settled_at = NULL, cancel_requested_at = NULL, updated_at = now(), updated_by = {PLATFORM}
"""
"""What a retry sets; what the item was asked to do stays."""

RETRY_ITEM: Final = statement(
    "retry_item",
    # A settled item starts again as if it were new. How it had ended is read on the locked row, because that is what
    # its bundle uncounts.
    f"""
    WITH before AS (
        SELECT id, status FROM queue.work_items WHERE org_id = $1 AND id = $2 AND status IN {SETTLED} FOR UPDATE
    ),
    again AS (
        UPDATE queue.work_items AS i SET {AS_NEW}
        FROM before WHERE i.org_id = $1 AND i.id = before.id
        RETURNING i.*, before.status AS was
    ),
    {counting("again", status="was", where="TRUE", by=-1)}
    SELECT {FIELDS} FROM again
    """,
)

DELETE_ITEM: Final = statement(
    "delete_item",
    # What had not settled counts as cancelled: it will never end otherwise.
    f"""
    WITH gone AS (
        DELETE FROM queue.work_items AS i WHERE org_id = $1 AND id = $2 AND status <> 'claimed' RETURNING i.*
    ),
    {counting("gone", status="'cancelled'", where="status = 'queued'")}
    SELECT {FIELDS} FROM gone
    """,
)
