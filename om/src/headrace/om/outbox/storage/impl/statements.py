"""The outbox's SQL that takes rows, by name; one sentence each on what it does and why it is written that way."""

from typing import Final

from headrace.om.storage.database import DriverStatement
from headrace.om.storage.roles import DatabaseRole

MAX_ORGS: Final = 1000
"""Tenants with pending rows that a pass looks at for its shares; those beyond are met when theirs are the oldest."""

# The payload comes as text: one that cannot be read must fail by itself and not the fetch of all.
_HOLD_AND_RETURN: Final = """
    UPDATE core.outbox_rows AS r SET available_at = now() + $2::interval
    FROM due WHERE r.org_id = due.org_id AND r.id = due.id
    RETURNING due.due_at, r.org_id, r.id, r.kind, r.payload::text AS payload, r.actor_id, r.request_id, r.traceparent,
        r.created_at
"""

TAKE_ROWS: Final = DriverStatement(
    name="take_rows",
    role=DatabaseRole.CORE,
    # Locking looks at each row again as it is by then: one that another relay took meanwhile is not due any more.
    sql=f"""
    WITH due AS (
        SELECT org_id, id, available_at AS due_at FROM core.outbox_rows
        WHERE org_id = $1 AND id = ANY($3::uuid[]) AND done_at IS NULL AND available_at <= now()
        FOR UPDATE SKIP LOCKED
    )
    {_HOLD_AND_RETURN}
    """,
)

TAKE_PENDING: Final = DriverStatement(
    name="take_pending",
    role=DatabaseRole.CORE,
    # Steps from tenant to tenant along the index instead of ranking all that is due: the cost is that of the
    # tenants and of the rows taken, not of a burst. Of those tenants that have due rows, each offers its equal
    # share; the oldest rows of all are offered too, to fill what the shares leave and so that no tenant beyond
    # MAX_ORGS waits for ever. Out of what is offered, each tenant's first row goes before any tenant's second.
    sql=f"""
    WITH RECURSIVE pending (org_id, position) AS (
        (SELECT org_id, 1 FROM core.outbox_rows WHERE done_at IS NULL ORDER BY org_id LIMIT 1)
        UNION ALL
        SELECT following.org_id, p.position + 1 FROM pending AS p CROSS JOIN LATERAL (
            SELECT r.org_id FROM core.outbox_rows AS r
            WHERE r.done_at IS NULL AND r.org_id > p.org_id
            ORDER BY r.org_id LIMIT 1
        ) AS following
        WHERE p.position < $3::int
    ),
    waiting AS (
        SELECT p.org_id FROM pending AS p CROSS JOIN LATERAL (
            SELECT r.available_at FROM core.outbox_rows AS r
            WHERE r.org_id = p.org_id AND r.done_at IS NULL AND r.available_at <= now()
            ORDER BY r.available_at LIMIT 1
        ) AS oldest_of_org
        ORDER BY oldest_of_org.available_at LIMIT $1::int
    ),
    shares AS (
        SELECT share.* FROM waiting AS w CROSS JOIN LATERAL (
            SELECT r.org_id, r.id, r.available_at FROM core.outbox_rows AS r
            WHERE r.org_id = w.org_id AND r.done_at IS NULL AND r.available_at <= now()
            ORDER BY r.available_at, r.id
            LIMIT (SELECT $1::int / greatest(count(*), 1) FROM waiting)
            FOR UPDATE SKIP LOCKED
        ) AS share
    ),
    oldest AS (
        SELECT org_id, id, available_at FROM core.outbox_rows
        WHERE done_at IS NULL AND available_at <= now()
        ORDER BY available_at, id LIMIT $1::int
        FOR UPDATE SKIP LOCKED
    ),
    ranked AS (
        SELECT offered.*, row_number() OVER (PARTITION BY org_id ORDER BY available_at, id) AS rank
        FROM (SELECT * FROM shares UNION SELECT * FROM oldest) AS offered
    ),
    due AS (
        SELECT org_id, id, available_at AS due_at FROM ranked ORDER BY rank, available_at, id LIMIT $1::int
    )
    {_HOLD_AND_RETURN}
    """,
)
