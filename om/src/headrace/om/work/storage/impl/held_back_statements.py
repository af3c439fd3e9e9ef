"""How many due items are held back, by reason: for a sweep's gauges, so a look at all of them is no matter."""

from typing import Final

from headrace.om.work.storage.impl.claim_statements import SHARED_TURN
from headrace.om.work.storage.impl.gated_statements import LIVE, running, tokens
from headrace.om.work.storage.impl.statements import statement

_DUE: Final = "status = 'queued' AND turn IS NOT NULL"


def _org_is_full(kind: str, name: str) -> str:
    """Return the condition that an org is at its own limit, or else at the one of each org."""
    limit = f"""
        SELECT c.max_running FROM queue.work_controls AS c
        WHERE c.what = 'limit' AND c.scope = 'org' AND c.lane = '' AND c.kind = {kind} AND c.org_id =
    """
    return f"coalesce(({limit} d.org_id), ({limit} {SHARED_TURN})) <= {running(name)}"


READ_HELD_BACK: Final = statement(
    "read_held_back",
    # Due items without a key are read only where anything is said.
    f"""
    WITH {LIVE},
    due AS MATERIALIZED (
        SELECT lane, kind, org_id, count(*) AS num FROM queue.work_items
        WHERE {_DUE} AND (SELECT count(*) FROM queue.work_controls) > 0 GROUP BY lane, kind, org_id
    ),
    keys AS MATERIALIZED (
        SELECT kind, org_id, concurrency_key, count(*) AS num FROM queue.work_items
        WHERE {_DUE} AND line <> 0 AND concurrency_key IS NOT NULL GROUP BY kind, org_id, concurrency_key
    ),
    orders AS MATERIALIZED (
        SELECT org_id, ordering_key, count(*) AS num FROM queue.work_items
        WHERE {_DUE} AND line <> 0 AND ordering_key IS NOT NULL GROUP BY org_id, ordering_key
    )
    SELECT
        (
            SELECT coalesce(sum(d.num), 0)::bigint FROM due AS d WHERE EXISTS (
                SELECT FROM queue.work_controls AS c WHERE c.what = 'pause' AND (
                    (c.scope = 'lane' AND c.lane = d.lane) OR (c.scope = 'kind' AND c.kind = d.kind)
                    OR (c.scope = 'org' AND c.org_id = d.org_id)
                )
            )
        ) AS num_paused,
        (
            SELECT coalesce(sum(d.num), 0)::bigint FROM due AS d
            JOIN queue.work_controls AS c ON c.what = 'limit' AND c.scope = 'kind' AND c.kind = d.kind
            WHERE c.max_running <= {running("d.kind")}
        ) AS num_of_full_kinds,
        (
            SELECT coalesce(sum(d.num), 0)::bigint FROM due AS d
            JOIN queue.work_controls AS c ON c.what = 'rate' AND c.scope = 'kind' AND c.kind = d.kind
            WHERE {tokens("c")} < 1
        ) AS num_of_spent_rates,
        (
            SELECT coalesce(sum(d.num), 0)::bigint FROM due AS d
            WHERE {_org_is_full("''", "d.org_id::text")}
                OR {_org_is_full("d.kind", "concat_ws('/', d.org_id, d.kind)")}
        ) AS num_of_full_orgs,
        (
            SELECT coalesce(sum(k.num), 0)::bigint FROM keys AS k
            LEFT JOIN queue.work_controls AS c ON c.what = 'limit' AND c.scope = 'key' AND c.kind = k.kind
            WHERE coalesce(c.max_running, 1) <= (
                SELECT count(*) FROM queue.work_items AS i
                WHERE i.org_id = k.org_id AND i.concurrency_key = k.concurrency_key AND i.status = 'claimed'
                    AND i.lease_expires_at > now()
            )
        ) AS num_of_full_keys,
        (
            SELECT coalesce(sum(o.num - CASE WHEN h.may_begin THEN 1 ELSE 0 END), 0)::bigint FROM orders AS o
            CROSS JOIN LATERAL (
                SELECT status = 'queued' AND turn IS NOT NULL AND available_at <= now() AS may_begin
                FROM queue.work_items
                WHERE org_id = o.org_id AND ordering_key = o.ordering_key AND ordering_key IS NOT NULL
                    AND status IN ('queued', 'claimed')
                ORDER BY (status <> 'claimed'), (started_at IS NULL), available_at, id LIMIT 1
            ) AS h
        ) AS num_out_of_order
    """,
)
