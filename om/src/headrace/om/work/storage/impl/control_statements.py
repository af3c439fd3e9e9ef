"""The statements of what is said about claims.

A change waits for the gate of claims and goes through it, as a claim does that takes something: so no claim that is in
the gate, or that looked before the change, decides by what held before.
"""

from typing import Final

from headrace.om.work.storage.impl.gated_statements import GATE_LOCK
from headrace.om.work.storage.impl.statements import statement

_GATE: Final = f"gate AS MATERIALIZED (SELECT pg_advisory_xact_lock({GATE_LOCK}))"

_THROUGH: Final = "SELECT setval('queue.work_gate', pg_current_xact_id()::text::bigint) FROM changed"

PUT_CONTROL: Final = statement(
    "put_control",
    # A new bucket is full; one that is there keeps what is in it, up to the burst.
    f"""
    WITH {_GATE},
    changed AS (
        INSERT INTO queue.work_controls AS c (
            what, scope, lane, kind, org_id, max_running, per_second, burst, tokens, filled_at, origin, created_at,
            updated_at
        )
        SELECT $1, $2, $3, $4, $5, $6, $7, $8::integer, $8::integer, CASE WHEN $8::integer IS NOT NULL THEN now() END,
            $9, now(), now()
        FROM gate
        ON CONFLICT (what, scope, lane, kind, org_id) DO UPDATE SET
            max_running = excluded.max_running, per_second = excluded.per_second, burst = excluded.burst,
            tokens = least(c.tokens, excluded.burst), origin = excluded.origin, updated_at = now()
        RETURNING what
    )
    {_THROUGH}
    """,
)

DELETE_CONTROL: Final = statement(
    "delete_control",
    f"""
    WITH {_GATE},
    changed AS (
        DELETE FROM queue.work_controls USING gate
        WHERE what = $1 AND scope = $2 AND lane = $3 AND kind = $4 AND org_id = $5
        RETURNING what
    )
    {_THROUGH}
    """,
)

READ_CONTROLS: Final = statement(
    "read_controls",
    """
    SELECT what, scope, lane, kind, org_id, max_running, per_second, burst FROM queue.work_controls
    ORDER BY what, scope, lane, kind, org_id
    """,
)
