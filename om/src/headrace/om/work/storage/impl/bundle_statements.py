"""The statements of bundles themselves; those that count in them are in `ending_statements`."""

from typing import Final

from headrace.om.work.storage.impl.item_columns import INSERTED_NAMES, NAMES, unnested, written
from headrace.om.work.storage.impl.statements import statement

BUNDLE_FIELDS: Final = (
    "id, kind, origin, on_settled::text AS on_settled, request_id, traceparent, follow_up_id, num_items, num_done, "
    "num_failed, num_cancelled, status, settled_at, created_at, created_by, updated_at, updated_by"
)

NUM_BUNDLE_PARAMETERS: Final = 13

CREATE_BUNDLE: Final = statement(
    "create_bundle",
    # One statement, so all of it or nothing. A bundle that is there leaves everything as it is; an item that is there
    # breaks a unique index and with it the statement.
    f"""
    WITH bundle AS (
        INSERT INTO queue.work_bundles (
            org_id, id, kind, origin, on_settled, request_id, traceparent, follow_up_id, num_items, created_at,
            created_by, updated_at, updated_by, status
        )
        VALUES ($1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, 'open')
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    INSERT INTO queue.work_items ({INSERTED_NAMES})
    SELECT $1, {written("$1")}
    FROM {unnested(first=NUM_BUNDLE_PARAMETERS + 1)} WITH ORDINALITY AS n ({NAMES}, position)
    WHERE EXISTS (SELECT FROM bundle)
    ORDER BY n.unique_hash NULLS LAST, n.idempotency_key NULLS LAST, n.id
    RETURNING id
    """,
)

READ_BUNDLE: Final = statement(
    "read_bundle", f"SELECT {BUNDLE_FIELDS} FROM queue.work_bundles WHERE org_id = $1 AND id = $2"
)

READ_BUNDLES: Final = statement(
    "read_bundles",
    # Walks the primary key downwards from the id that the last page ended with.
    f"""
    SELECT {BUNDLE_FIELDS} FROM queue.work_bundles
    WHERE org_id = $1
        AND ($2::uuid IS NULL OR id < $2)
        AND ($3::text IS NULL OR status = $3)
        AND ($4::text IS NULL OR kind = $4)
        AND ($5::text IS NULL OR origin = $5)
    ORDER BY id DESC LIMIT $6
    """,
)

COUNT_BUNDLES: Final = statement(
    "count_bundles",
    # One pass over the tenant's bundles.
    """
    SELECT
        count(*) FILTER (WHERE status = 'open') AS num_open_bundles,
        count(*) FILTER (WHERE status = 'settled') AS num_settled_bundles
    FROM queue.work_bundles WHERE org_id = $1
    """,
)

DELETE_BUNDLE: Final = statement(
    "delete_bundle",
    # Locks items first and in the order of their ids, as everything does that counts. One that is claimed on its locked
    # row keeps all of them.
    """
    WITH items AS (
        SELECT id, status FROM queue.work_items WHERE org_id = $1 AND bundle_id = $2 ORDER BY id FOR UPDATE
    ),
    free AS (SELECT WHERE NOT EXISTS (SELECT FROM items WHERE status = 'claimed')),
    gone AS (
        DELETE FROM queue.work_items WHERE org_id = $1 AND id IN (SELECT id FROM items) AND EXISTS (SELECT FROM free)
    )
    DELETE FROM queue.work_bundles WHERE org_id = $1 AND id = $2 AND EXISTS (SELECT FROM free)
    RETURNING id
    """,
)

PURGE_BUNDLES: Final = statement(
    "purge_bundles",
    # A bundle goes after its items, so that one of them that is retried meanwhile still opens it.
    """
    DELETE FROM queue.work_bundles WHERE org_id = $1 AND id = ANY(ARRAY(
        SELECT b.id FROM queue.work_bundles AS b
        WHERE org_id = $1 AND b.settled_at < now() - $2::interval
            AND NOT EXISTS (SELECT FROM queue.work_items AS i WHERE i.org_id = b.org_id AND i.bundle_id = b.id)
        ORDER BY b.settled_at LIMIT $3 FOR UPDATE OF b SKIP LOCKED
    ))
    RETURNING id
    """,
)
