"""The queue's SQL, by name; one sentence each on what it does and why it is written that way.

Every instant that a statement compares is the database's `now()`. A statement that runs for one tenant names
the tenant in its predicate as well as standing behind the table's policy.
"""

from functools import cache
from typing import Final

from headrace.om.storage.database import DriverStatement
from headrace.om.storage.roles import DatabaseRole

PLATFORM: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
"""Who signs every write after the enqueue."""

FIELDS: Final = (
    "id, kind, lane, origin, target_id, idempotency_key, request_id, traceparent, payload::text AS payload, "
    "priority, available_at, status, claimed_by, claim_token, lease_expires_at, attempts, max_attempts, crashes, "
    "last_error, error_code, result::text AS result, progress, progress_note, started_at, settled_at, "
    "cancel_requested_at, created_at, created_by, updated_at, updated_by"
)

OF_I: Final = ", ".join(f"i.{field.strip()}" for field in FIELDS.split(","))
"""The same fields of a table that a statement calls i."""


def _statement(name: str, sql: str) -> DriverStatement:
    return DriverStatement(name=name, role=DatabaseRole.QUEUE, sql=sql)


CREATE_ITEMS: Final = _statement(
    "create_items",
    # Sorted by key, and by id where there is none: the one order in which any two enqueues meet the unique indexes,
    # so that they never wait for each other in a circle. Of two with one key the first in the caller's order stays.
    """
    INSERT INTO queue.work_items (
        org_id, id, kind, lane, origin, target_id, idempotency_key, request_id, traceparent, payload, priority,
        available_at, status, attempts, max_attempts, created_at, created_by, updated_at, updated_by
    )
    SELECT $1, n.id, n.kind, n.lane, n.origin, n.target_id, n.idempotency_key, n.request_id, n.traceparent,
        n.payload::jsonb, n.priority, coalesce(n.available_at, now()), 'queued', 0, n.max_attempts, n.created_at,
        n.created_by, n.updated_at, n.updated_by
    FROM unnest(
        $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::uuid[], $9::text[], $10::text[],
        $11::smallint[], $12::timestamptz[], $13::integer[], $14::timestamptz[], $15::uuid[], $16::timestamptz[],
        $17::uuid[]
    ) WITH ORDINALITY AS n (
        id, kind, lane, origin, target_id, idempotency_key, request_id, traceparent, payload, priority, available_at,
        max_attempts, created_at, created_by, updated_at, updated_by, position
    )
    ORDER BY n.idempotency_key NULLS LAST, CASE WHEN n.idempotency_key IS NULL THEN n.id END, n.position
    ON CONFLICT DO NOTHING
    RETURNING id
    """,
)

FIND_TAKEN: Final = _statement(
    "find_taken",
    # Finds whose id or key was taken, for the few rows of a bulk insert that did not go in.
    """
    SELECT id, idempotency_key FROM queue.work_items
    WHERE org_id = $1 AND (id = ANY($2::uuid[]) OR idempotency_key = ANY($3::text[]))
    """,
)

READ_ITEM: Final = _statement("read_item", f"SELECT {FIELDS} FROM queue.work_items WHERE org_id = $1 AND id = $2")

READ_ITEM_BY_KEY: Final = _statement(
    "read_item_by_key", f"SELECT {FIELDS} FROM queue.work_items WHERE org_id = $1 AND idempotency_key = $2"
)

READ_ITEMS: Final = _statement(
    "read_items",
    # Walks the primary key downwards from the id that the last page ended with.
    f"""
    SELECT {FIELDS} FROM queue.work_items
    WHERE org_id = $1
        AND ($2::uuid IS NULL OR id < $2)
        AND ($3::text IS NULL OR status = $3)
        AND ($4::text IS NULL OR kind = $4)
        AND ($5::text IS NULL OR lane = $5)
        AND ($6::text IS NULL OR origin = $6)
        AND ($7::timestamptz IS NULL OR started_at < $7)
        AND ($8::boolean IS NULL OR (last_error IS NOT NULL) = $8)
    ORDER BY id DESC LIMIT $9
    """,
)

READ_COUNTS: Final = _statement(
    "read_counts",
    # One pass over the tenant's rows; the wait counts due rows only.
    """
    SELECT status, kind, lane, count(*) AS num_items,
        max(now() - available_at) FILTER (WHERE status = 'queued' AND available_at <= now()) AS oldest_waiting
    FROM queue.work_items WHERE org_id = $1 GROUP BY status, kind, lane ORDER BY status, kind, lane
    """,
)

CANCEL_ITEM: Final = _statement(
    "cancel_item",
    # A queued item ends here; a claimed one is flagged, and its holder learns it at the next renewal.
    f"""
    UPDATE queue.work_items AS i SET
        status = CASE WHEN status = 'queued' THEN 'cancelled' ELSE status END,
        settled_at = CASE WHEN status = 'queued' THEN now() END,
        cancel_requested_at = coalesce(cancel_requested_at, now()),
        updated_at = now(), updated_by = {PLATFORM}
    WHERE org_id = $1 AND id = $2 AND status IN ('queued', 'claimed')
    RETURNING {OF_I}
    """,
)

RETRY_ITEM: Final = _statement(
    "retry_item",
    # A settled item starts again as if it were new; what it was asked to do stays.
    f"""
    UPDATE queue.work_items AS i SET
        status = 'queued', available_at = now(), attempts = 0, crashes = 0, claimed_by = NULL, last_error = NULL,
        error_code = NULL, result = NULL, progress = NULL, progress_note = NULL, started_at = NULL,
        settled_at = NULL, cancel_requested_at = NULL, updated_at = now(), updated_by = {PLATFORM}
    WHERE org_id = $1 AND id = $2 AND status IN ('done', 'failed', 'cancelled')
    RETURNING {OF_I}
    """,
)

DELETE_ITEM: Final = _statement(
    "delete_item",
    "DELETE FROM queue.work_items WHERE org_id = $1 AND id = $2 AND status <> 'claimed' RETURNING id",
)


_LEVELS: Final = """
    WITH RECURSIVE levels (priority) AS (
        (
            SELECT top.priority
            FROM unnest($2::text[]) AS k (kind)
            CROSS JOIN LATERAL (
                SELECT priority FROM queue.work_items
                WHERE status = 'queued' AND lane = $1 AND kind = k.kind
                ORDER BY priority DESC LIMIT 1
            ) AS top
            ORDER BY top.priority DESC LIMIT 1
        )
        UNION ALL
        SELECT lower.priority
        FROM levels AS l
        CROSS JOIN LATERAL (
            SELECT next.priority
            FROM unnest($2::text[]) AS k (kind)
            CROSS JOIN LATERAL (
                SELECT priority FROM queue.work_items
                WHERE status = 'queued' AND lane = $1 AND kind = k.kind AND priority < l.priority
                ORDER BY priority DESC LIMIT 1
            ) AS next
            ORDER BY next.priority DESC LIMIT 1
        ) AS lower
    )
"""
"""The priorities in use in a lane, highest first: one descent of the claim's index for each kind and priority.

Read row by row by whoever needs the next one, so that a claim that is full looks no further down.
"""


@cache
def claim_statement(limit: int) -> DriverStatement:
    """Return the claim of up to `limit` items.

    For each priority from the highest down: the kinds where something is due, the one that has waited longest
    first, and their rows by age. Rows are locked while they are picked, and the picking stops at the limit, so that
    exactly what is taken is locked and lower priorities are not even looked at. Rows of other kinds and future rows
    are passed by the index. The limit is a literal: as a parameter it would make the planner guess a share of the
    table.
    """
    return _statement(
        f"claim_{limit}",
        f"""
        {_LEVELS},
        picked AS (
            SELECT due.org_id, due.id
            FROM levels AS l
            CROSS JOIN LATERAL (
                SELECT k.kind
                FROM unnest($2::text[]) AS k (kind)
                CROSS JOIN LATERAL (
                    SELECT available_at FROM queue.work_items
                    WHERE status = 'queued' AND lane = $1 AND kind = k.kind AND priority = l.priority
                        AND available_at <= now()
                    ORDER BY available_at LIMIT 1
                ) AS head
                ORDER BY head.available_at, k.kind
            ) AS h
            CROSS JOIN LATERAL (
                SELECT org_id, id FROM queue.work_items
                WHERE status = 'queued' AND lane = $1 AND kind = h.kind AND priority = l.priority
                    AND available_at <= now()
                ORDER BY available_at, id LIMIT {limit} FOR UPDATE SKIP LOCKED
            ) AS due
            LIMIT {limit}
        )
        UPDATE queue.work_items AS i SET
            status = 'claimed', claim_token = gen_random_uuid(), claimed_by = $3,
            lease_expires_at = now() + $4::interval, attempts = attempts + 1, started_at = now(),
            progress = NULL, progress_note = NULL, updated_at = now(), updated_by = {PLATFORM}
        FROM picked WHERE i.org_id = picked.org_id AND i.id = picked.id
        RETURNING i.org_id, {OF_I}
        """,
    )


SETTLE_BATCH: Final = _statement(
    "settle_batch",
    # The token alone is the fence: every transition clears it. A cancel that was asked for wins over queueing again.
    f"""
    UPDATE queue.work_items AS i SET
        status = CASE WHEN s.status = 'queued' AND i.cancel_requested_at IS NOT NULL THEN 'cancelled' ELSE s.status END,
        settled_at = CASE WHEN s.status <> 'queued' OR i.cancel_requested_at IS NOT NULL THEN now() END,
        available_at = CASE WHEN s.status = 'queued' THEN coalesce(s.until, now() + s.delay) ELSE i.available_at END,
        attempts = i.attempts - s.refund,
        crashes = CASE WHEN s.status = 'done' THEN 0 ELSE i.crashes END,
        last_error = CASE WHEN s.status = 'done' THEN NULL ELSE coalesce(s.last_error, i.last_error) END,
        error_code = CASE WHEN s.status = 'done' THEN NULL ELSE coalesce(s.error_code, i.error_code) END,
        result = s.result::jsonb,
        claim_token = NULL, lease_expires_at = NULL,
        claimed_by = CASE WHEN s.status = 'queued' THEN NULL ELSE i.claimed_by END,
        updated_at = now(), updated_by = {PLATFORM}
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::interval[], $6::timestamptz[], $7::integer[], $8::text[],
        $9::text[], $10::text[]
    ) AS s (org_id, id, token, status, delay, until, refund, last_error, error_code, result)
    WHERE i.org_id = s.org_id AND i.id = s.id AND i.claim_token = s.token
    RETURNING s.token, i.status
    """,
)

EXTEND_LEASES: Final = _statement(
    "extend_leases",
    # A lease that has passed and that no sweep has taken back is still the holder's to renew.
    f"""
    UPDATE queue.work_items AS i SET
        lease_expires_at = now() + $4::interval, updated_at = now(), updated_by = {PLATFORM}
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS r (org_id, id, token)
    WHERE i.org_id = r.org_id AND i.id = r.id AND i.claim_token = r.token
    RETURNING r.id, r.token, i.cancel_requested_at IS NOT NULL AS is_cancel_requested
    """,
)

WRITE_PROGRESS: Final = _statement(
    "write_progress",
    f"""
    UPDATE queue.work_items SET
        progress = $4, progress_note = $5, updated_at = now(), updated_by = {PLATFORM}
    WHERE org_id = $1 AND id = $2 AND claim_token = $3
    RETURNING id
    """,
)

REQUEUE_STALE: Final = _statement(
    "requeue_stale",
    # Spells `rules.is_stale`, `rules.stale_status` and `rules.requeue_stagger` once more. FOR UPDATE looks at the
    # lease again on the locked row, so that a claim renewed or settled in between is left alone.
    f"""
    WITH stale AS (
        SELECT id FROM queue.work_items
        WHERE org_id = $1 AND status = 'claimed' AND lease_expires_at < now() - $2::interval
        ORDER BY lease_expires_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
    ),
    placed AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS position FROM stale)
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
    RETURNING {OF_I}
    """,
)

READ_STALE_ORGS: Final = _statement(
    "read_stale_orgs",
    "SELECT DISTINCT org_id FROM queue.work_items WHERE status = 'claimed' AND lease_expires_at < now() LIMIT $1",
)

READ_ORGS: Final = _statement(
    "read_orgs",
    # Walks from tenant to tenant down the primary key, one descent each, so that no tenant's items are read.
    """
    WITH RECURSIVE tenants (org_id, position) AS (
        (SELECT org_id, 1 FROM queue.work_items WHERE org_id > $2 ORDER BY org_id LIMIT 1)
        UNION ALL
        SELECT following.org_id, t.position + 1
        FROM tenants AS t
        CROSS JOIN LATERAL (
            SELECT org_id FROM queue.work_items WHERE org_id > t.org_id ORDER BY org_id LIMIT 1
        ) AS following
        WHERE t.position < $1
    )
    SELECT org_id FROM tenants ORDER BY position
    """,
)

PURGE_ITEMS: Final = _statement(
    "purge_items",
    # Rows that somebody else is retrying or deleting are passed over and met again by the next sweep.
    """
    DELETE FROM queue.work_items WHERE org_id = $1 AND id = ANY(ARRAY(
        SELECT id FROM queue.work_items
        WHERE org_id = $1 AND settled_at < now() - $2::interval
        ORDER BY settled_at LIMIT $3 FOR UPDATE SKIP LOCKED
    ))
    RETURNING id
    """,
)

FAIL_ORPHANED: Final = _statement(
    "fail_orphaned",
    # Takes the token away too: whoever still holds one of these finds the claim lost.
    f"""
    UPDATE queue.work_items SET
        status = 'failed', settled_at = now(), last_error = $3, error_code = 'tenant_gone',
        claim_token = NULL, lease_expires_at = NULL, updated_at = now(), updated_by = {PLATFORM}
    WHERE org_id = $1 AND id = ANY(ARRAY(
        SELECT id FROM queue.work_items WHERE org_id = $1 AND status IN ('queued', 'claimed')
        ORDER BY id LIMIT $2 FOR UPDATE
    ))
    RETURNING id
    """,
)

READ_GAUGES: Final = _statement(
    "read_gauges",
    # Each count is answered by a partial index of its own.
    """
    SELECT
        (SELECT count(*) FROM queue.work_items WHERE status = 'queued') AS num_queued,
        (SELECT count(*) FROM queue.work_items WHERE status = 'claimed') AS num_claimed,
        (SELECT count(*) FROM queue.work_items WHERE status = 'failed') AS num_failed,
        (SELECT count(*) FROM queue.work_items WHERE status = 'queued' AND available_at > now()) AS num_parked,
        (SELECT max(now() - available_at) FROM queue.work_items
            WHERE status = 'queued' AND available_at <= now()) AS oldest_waiting
    """,
)
