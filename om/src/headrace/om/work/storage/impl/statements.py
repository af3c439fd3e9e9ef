"""The queue's SQL, by name; one sentence each on what it does and why it is written that way.

Every instant that a statement compares is the database's `now()`. A statement that runs for one tenant names
the tenant in its predicate as well as standing behind the table's policy.
"""

from typing import Final

from headrace.om.storage.database import DriverStatement
from headrace.om.storage.roles import TENANT_SETTING, DatabaseRole
from headrace.om.work.storage.impl.counting import PLATFORM
from headrace.om.work.storage.impl.item_columns import INSERTED_NAMES, NAMES, placed, unnested, written

FIELDS: Final = (
    "id, kind, lane, origin, target_id, idempotency_key, request_id, traceparent, payload::text AS payload, "
    "priority, available_at, status, claimed_by, claim_token, lease_expires_at, attempts, max_attempts, crashes, "
    "last_error, error_code, result::text AS result, progress, progress_note, started_at, settled_at, "
    "cancel_requested_at, concurrency_key, ordering_key, bundle_id, unique_for, unique_hash, created_at, created_by, "
    "updated_at, updated_by"
)

OF_I: Final = ", ".join(f"i.{field.strip()}" for field in FIELDS.split(","))
"""The same fields of a table that a statement calls i."""


def statement(name: str, sql: str, *, names_tenant: bool = False) -> DriverStatement:
    """Return one of the queue's statements."""
    return DriverStatement(name=name, role=DatabaseRole.QUEUE, sql=sql, names_tenant=names_tenant)


CREATE_ITEM: Final = statement(
    "create_item",
    # One item in one round trip: the row's tenant is what the setting was set to on the way, before the policy looks at
    # the row. To unnest arrays and to sort what they hold would cost as much as to write it.
    f"""
    INSERT INTO queue.work_items ({INSERTED_NAMES})
    SELECT set_config('{TENANT_SETTING}', $1::uuid::text, true)::uuid, {written("$1::uuid")}
    FROM {placed(first=2)} AS n ({NAMES})
    ON CONFLICT DO NOTHING
    RETURNING id
    """,
    names_tenant=True,
)


CREATE_ITEMS: Final = statement(
    "create_items",
    # Sorted by uniqueness, then by key, and by id where there is neither: the one order in which any two enqueues meet
    # the unique indexes, so that they do not wait for each other in a circle. Of two that agree in one of the two, and
    # have nothing of the other, the first in the caller's order stays; the caller sees to the rest.
    f"""
    INSERT INTO queue.work_items ({INSERTED_NAMES})
    SELECT $1, {written("$1")}
    FROM {unnested(first=2)} WITH ORDINALITY AS n ({NAMES}, position)
    ORDER BY n.unique_hash NULLS LAST, n.idempotency_key NULLS LAST,
        CASE WHEN n.unique_hash IS NULL AND n.idempotency_key IS NULL THEN n.id END, n.position
    ON CONFLICT DO NOTHING
    RETURNING id
    """,
)

FIND_TAKEN: Final = statement(
    "find_taken",
    # Finds whose id, key or uniqueness was taken, for the few rows of a bulk insert that did not go in.
    """
    SELECT id, idempotency_key, CASE WHEN status IN ('queued', 'claimed') THEN unique_hash END AS unique_hash
    FROM queue.work_items
    WHERE org_id = $1 AND (
        id = ANY($2::uuid[]) OR idempotency_key = ANY($3::text[])
        OR (unique_hash = ANY($4::uuid[]) AND status IN ('queued', 'claimed'))
    )
    """,
)

READ_ITEM: Final = statement("read_item", f"SELECT {FIELDS} FROM queue.work_items WHERE org_id = $1 AND id = $2")

READ_ITEM_BY_KEY: Final = statement(
    "read_item_by_key", f"SELECT {FIELDS} FROM queue.work_items WHERE org_id = $1 AND idempotency_key = $2"
)

READ_COUNTS: Final = statement(
    "read_counts",
    # One pass over the tenant's rows; the wait counts due rows only.
    """
    SELECT status, kind, lane, count(*) AS num_items,
        max(now() - available_at) FILTER (WHERE status = 'queued' AND available_at <= now()) AS oldest_waiting
    FROM queue.work_items WHERE org_id = $1 GROUP BY status, kind, lane ORDER BY status, kind, lane
    """,
)

EXTEND_LEASES: Final = statement(
    "extend_leases",
    # A lease that has passed and that no sweep has taken back is still the holder's to renew, unless the item has a
    # concurrency key: its place was free from then on, and may be taken.
    f"""
    UPDATE queue.work_items AS i SET
        lease_expires_at = now() + $4::interval, updated_at = now(), updated_by = {PLATFORM}
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS r (org_id, id, token)
    WHERE i.org_id = r.org_id AND i.id = r.id AND i.claim_token = r.token
        AND (i.concurrency_key IS NULL OR i.lease_expires_at > now())
    RETURNING r.id, r.token, i.cancel_requested_at IS NOT NULL AS is_cancel_requested
    """,
)

WRITE_PROGRESS: Final = statement(
    "write_progress",
    f"""
    UPDATE queue.work_items SET
        progress = $4, progress_note = $5, updated_at = now(), updated_by = {PLATFORM}
    WHERE org_id = $1 AND id = $2 AND claim_token = $3
    RETURNING id
    """,
)

READ_STALE_ORGS: Final = statement(
    "read_stale_orgs",
    "SELECT DISTINCT org_id FROM queue.work_items WHERE status = 'claimed' AND lease_expires_at < now() LIMIT $1",
)


def _next_org(after: str) -> str:
    """Return the query for the tenant that comes next, of those with items, with bundles or with schedules."""
    tables = ("work_items", "work_bundles", "work_schedules")
    nearest = (f"(SELECT org_id FROM queue.{each} WHERE org_id > {after} ORDER BY org_id LIMIT 1)" for each in tables)
    return " UNION ALL ".join(nearest)


READ_ORGS: Final = statement(
    "read_orgs",
    # Walks from tenant to tenant down each primary key, a descent each, so that no tenant's rows are read.
    f"""
    WITH RECURSIVE tenants (org_id, position) AS (
        (SELECT org_id, 1 FROM ({_next_org("$2::uuid")}) AS first ORDER BY org_id LIMIT 1)
        UNION ALL
        SELECT following.org_id, t.position + 1
        FROM tenants AS t
        CROSS JOIN LATERAL (
            SELECT org_id FROM ({_next_org("t.org_id")}) AS nearest ORDER BY org_id LIMIT 1
        ) AS following
        WHERE t.position < $1
    )
    SELECT org_id FROM tenants ORDER BY position
    """,
)

PURGE_ITEMS: Final = statement(
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

READ_GAUGES: Final = statement(
    "read_gauges",
    # Each count is answered by a partial index of its own. What became due and has no turn yet is not parked.
    """
    SELECT
        d.num + w.num_due + w.num_parked AS num_queued,
        (SELECT count(*) FROM queue.work_items WHERE status = 'claimed') AS num_claimed,
        (SELECT count(*) FROM queue.work_items WHERE status = 'failed') AS num_failed,
        w.num_parked,
        now() - least(d.oldest_at, w.oldest_at) AS oldest_waiting
    FROM (
        SELECT count(*) AS num, min(available_at) AS oldest_at
        FROM queue.work_items WHERE status = 'queued' AND turn IS NOT NULL
    ) AS d
    CROSS JOIN (
        SELECT count(*) FILTER (WHERE available_at <= now()) AS num_due,
            count(*) FILTER (WHERE available_at > now()) AS num_parked,
            min(available_at) FILTER (WHERE available_at <= now()) AS oldest_at
        FROM queue.work_items WHERE status = 'queued' AND turn IS NULL
    ) AS w
    """,
)
