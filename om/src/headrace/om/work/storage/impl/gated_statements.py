"""The claim's SQL where something bounds it: limits, rates, pauses, or keys of the items.

Every such claim goes through one gate, so that two of them never count the same room twice. The gate is a lock that the
statement itself takes and that ends with it: a worker that stands still cannot hold it. A claim does not wait for it.
Having it, a claim looks whether the last one that went through is in its own snapshot; only then does what it counts
hold. The sequence `work_gate` carries that transaction's id: its value is read as it is now, not as of the snapshot.

What is counted is live claims: tokens whose lease has not passed. Nothing is kept in counters, so nothing drifts.

Parameters: $1 to $5 as in every claim (see `claim_statements`), $6 the line to begin behind among a turn's lines, $7
how many items of one turn at most, $8 how many at all.
"""

from functools import cache
from typing import Final

from headrace.om.storage.database import DriverStatement
from headrace.om.work.storage.impl.claim_statements import (
    CLAIM,
    DUE,
    HAS_CONTROLS,
    ORDER,
    SHARED_TURN,
    has_keyed,
    has_shared,
    has_waiting,
    kinds_from,
    walk,
)
from headrace.om.work.storage.impl.statements import OF_I, statement

GATE_LOCK: Final = 4_842_023_531_946_147_001
"""The advisory lock's number: any that nobody else in the database uses."""

MAX_TURNS: Final = 500
"""Turns that one statement looks at, most of which may turn out to be blocked; the next one begins behind them."""

MAX_LINES: Final = 200
"""Lines of one kind and turn that one statement looks at, likewise."""


def _gate(kinds: str) -> str:
    return f"""
        gate AS MATERIALIZED (
            SELECT
                CASE
                    WHEN NOT l.is_mine THEN 'busy'
                    -- A number from the future, which the dump of another cluster brings, is nothing to wait for.
                    WHEN g.last_value < pg_current_xact_id()::text::bigint
                        AND NOT pg_visible_in_snapshot(g.last_value::text::xid8, pg_current_snapshot()) THEN 'stale'
                    ELSE 'open'
                END AS state,
                {HAS_CONTROLS} OR {has_keyed(kinds)} AS is_gated,
                EXISTS (SELECT FROM queue.work_controls WHERE scope = 'org') AS is_by_org
            FROM (SELECT pg_try_advisory_xact_lock({GATE_LOCK}) AS is_mine OFFSET 0) AS l
            LEFT JOIN LATERAL (SELECT last_value FROM queue.work_gate WHERE l.is_mine) AS g ON TRUE
        )
    """


LIVE: Final = """
    live AS MATERIALIZED (
        SELECT coalesce(jsonb_object_agg(g.name, g.num), '{}') AS num FROM (
            SELECT concat_ws('/', org_id, kind) AS name, count(*) AS num
            FROM queue.work_items WHERE status = 'claimed' AND lease_expires_at > now()
            GROUP BY GROUPING SETS ((org_id), (kind), (org_id, kind))
        ) AS g
    )
"""
"""What runs, by org, by kind and by both: read once, and only where something is counted."""


def running(name: str) -> str:
    """Return how many live claims there are of an org, of a kind, or of `org/kind`."""
    return f"coalesce(((SELECT num FROM live) ->> {name})::bigint, 0)"


def tokens(bucket: str) -> str:
    """Return what is in a rate's bucket now; spells `rules.tokens_now` once more."""
    return (
        f"least({bucket}.burst, {bucket}.tokens + {bucket}.per_second"
        f" * greatest(extract(epoch FROM now() - {bucket}.filled_at), 0)::double precision)"
    )


def _kinds(num_kinds: int) -> str:
    """Return the kinds that may be claimed now, with the room that their limit and their rate leave; NULL is any."""
    return f"""
        kinds AS MATERIALIZED (
            SELECT r.kind, r.room, r.key_limit FROM (
                SELECT k.kind,
                    least(
                        CASE WHEN n.max_running IS NOT NULL THEN n.max_running - {running("k.kind")} END,
                        floor({tokens("b")})
                    )::bigint AS room,
                    coalesce(e.max_running, 1) AS key_limit
                FROM {kinds_from(num_kinds)}
                LEFT JOIN queue.work_controls AS n ON n.what = 'limit' AND n.scope = 'kind' AND n.kind = k.kind
                LEFT JOIN queue.work_controls AS e ON e.what = 'limit' AND e.scope = 'key' AND e.kind = k.kind
                LEFT JOIN queue.work_controls AS b ON b.what = 'rate' AND b.scope = 'kind' AND b.kind = k.kind
                WHERE (SELECT state FROM gate) = 'open'
                    AND NOT EXISTS (
                        SELECT FROM queue.work_controls AS p WHERE p.what = 'pause'
                            AND ((p.scope = 'lane' AND p.lane = $1) OR (p.scope = 'kind' AND p.kind = k.kind))
                    )
            ) AS r
            WHERE r.room IS NULL OR r.room > 0
        )
    """


def _org_limit(kind: str, name: str) -> str:
    """Return the room that an org's limit leaves in one turn, its own before the one of each org; NULL is any."""
    limit = f"""
        SELECT n.max_running - {running(name)} FROM queue.work_controls AS n
        WHERE n.what = 'limit' AND n.scope = 'org' AND n.lane = '' AND n.kind = {kind} AND n.org_id =
    """
    return f"coalesce(({limit} w.turn), ({limit} {SHARED_TURN}))"


_ORG: Final = f"""
    SELECT x.room FROM (SELECT {_org_limit("''", "w.turn::text")} AS room OFFSET 0) AS x
    WHERE (x.room IS NULL OR x.room > 0)
        AND NOT EXISTS (
            SELECT FROM queue.work_controls AS p
            WHERE p.what = 'pause' AND p.scope = 'org' AND p.lane = '' AND p.kind = '' AND p.org_id = w.turn
        )
"""
"""One row for an org that may have something claimed, with its room; none for one that may not."""

_OF_TURN: Final = f"{DUE} AND kind = k.kind AND turn = w.turn"

_COLUMNS: Final = "org_id, id, priority, available_at"

_WITHOUT_KEY: Final = f"""
    SELECT {_COLUMNS}, NULL::text AS concurrency_key, NULL::bigint AS key_room FROM queue.work_items
    WHERE {_OF_TURN} AND line = 0 AND available_at <= now()
    ORDER BY {ORDER} LIMIT $7
"""


def _next_line(bound: str) -> str:
    return f"SELECT line FROM queue.work_items WHERE {_OF_TURN} AND {bound} ORDER BY line LIMIT 1"


_LINES: Final = f"""
    WITH RECURSIVE after (line) AS (
        ({_next_line("line > $6")})
        UNION ALL
        SELECT n.line FROM after AS a CROSS JOIN LATERAL ({_next_line("line > a.line")}) AS n
    ),
    before (line) AS (
        ({_next_line("line > 0 AND line <= $6")})
        UNION ALL
        SELECT n.line FROM before AS b CROSS JOIN LATERAL ({_next_line("line > b.line AND line <= $6")}) AS n
    )
    SELECT line FROM (SELECT line FROM after UNION ALL SELECT line FROM before) AS both_ways LIMIT {MAX_LINES}
"""
"""The lines of a turn, one descent each, beginning behind $6: so that each is the first one at times."""

_HEAD: Final = f"""
    SELECT h.org_id, h.id, h.priority, h.available_at, NULL::text AS concurrency_key, NULL::bigint AS key_room
    FROM (
        SELECT {_COLUMNS}, status, turn, lane, kind FROM queue.work_items
        WHERE org_id = f.org_id AND ordering_key = f.ordering_key AND ordering_key IS NOT NULL
            AND status IN ('queued', 'claimed')
        ORDER BY (status <> 'claimed'), (started_at IS NULL), available_at, id LIMIT 1
    ) AS h
    WHERE h.status = 'queued' AND h.turn IS NOT NULL AND h.available_at <= now() AND h.lane = $1 AND h.kind = k.kind
"""
"""The head of an ordering key, if it may be claimed: nobody of the key is claimed, and nobody who was begun waits.

Who is not due comes last. A head that nobody has given a turn yet is one all the same, in whatever lane it is.
"""

_MEMBERS: Final = f"""
    SELECT i.org_id, i.id, i.priority, i.available_at, f.concurrency_key, x.room AS key_room
    FROM (
        SELECT k.key_limit - count(*) AS room FROM queue.work_items
        WHERE org_id = f.org_id AND concurrency_key = f.concurrency_key AND status = 'claimed'
            AND lease_expires_at > now()
    ) AS x
    CROSS JOIN LATERAL (
        SELECT {_COLUMNS} FROM queue.work_items
        WHERE {_OF_TURN} AND line = n.line AND available_at <= now() AND concurrency_key = f.concurrency_key
        ORDER BY {ORDER} LIMIT greatest(least(x.room, $7), 0)
    ) AS i
"""
"""The first items of a concurrency key, as many as its limit leaves room for."""

_WITH_KEY: Final = f"""
    SELECT m.* FROM ({_LINES}) AS n
    CROSS JOIN LATERAL (
        SELECT org_id, ordering_key, concurrency_key FROM queue.work_items
        WHERE {_OF_TURN} AND line = n.line ORDER BY {ORDER} LIMIT 1
    ) AS f
    CROSS JOIN LATERAL (
        SELECT * FROM ({_HEAD}) AS head
        UNION ALL
        SELECT * FROM ({_MEMBERS}) AS members
    ) AS m
    LIMIT $7
"""

_CANDIDATES: Final = f"""
    SELECT k.kind, k.room AS kind_room, k.org_kind_room, c.* FROM (
        SELECT y.* FROM (
            SELECT kinds.*, {_org_limit("kinds.kind", "concat_ws('/', w.turn, kinds.kind)")} AS org_kind_room FROM kinds
            OFFSET 0
        ) AS y
        WHERE y.org_kind_room IS NULL OR y.org_kind_room > 0
    ) AS k
    CROSS JOIN LATERAL (
        SELECT * FROM ({_WITHOUT_KEY}) AS without_key
        UNION ALL
        SELECT * FROM ({_WITH_KEY}) AS with_key
    ) AS c
    ORDER BY {ORDER} LIMIT least($7, o.room)
"""
"""The first items of a turn that nothing of their own holds back, at most $7."""


def _capped(source: str, room: str, partition: str, rank: str) -> str:
    """Return the rows of a source for which there is room, one after the other within each part."""
    return f"""
        SELECT * FROM (
            SELECT s.*, row_number() OVER (PARTITION BY {partition} ORDER BY place, {ORDER}) AS {rank}
            FROM {source} AS s
        ) AS r
        WHERE {room} IS NULL OR {rank} <= {room}
    """


def _taking(size: int) -> str:
    """Return the parts that take what was picked, as far as there is room, pay its rates, and leave the gate's mark."""
    return f"""
        within_key AS ({_capped("picked", "key_room", "org_id, concurrency_key", "of_key")}),
        within_org_kind AS ({_capped("within_key", "org_kind_room", "org_id, kind", "of_org_kind")}),
        within_org AS ({_capped("within_org_kind", "org_room", "org_id", "of_org")}),
        within_kind AS ({_capped("within_org", "kind_room", "kind", "of_kind")}),
        -- By the primary key alone, whatever the planner thinks of the other indexes; then what the locked row says.
        locked AS (
            SELECT l.org_id, l.id FROM within_kind AS c CROSS JOIN LATERAL (
                SELECT org_id, id, status, turn FROM queue.work_items
                WHERE org_id = c.org_id AND id = c.id OFFSET 0 FOR UPDATE SKIP LOCKED
            ) AS l
            WHERE l.status = 'queued' AND l.turn IS NOT NULL
            LIMIT {size}
        ),
        taken AS (
            {CLAIM}
            FROM locked WHERE i.org_id = locked.org_id AND i.id = locked.id
            RETURNING i.org_id, {OF_I}
        ),
        spent AS (
            UPDATE queue.work_controls AS b SET tokens = {tokens("b")} - s.num, filled_at = now()
            FROM (SELECT kind, count(*) AS num FROM taken GROUP BY kind) AS s
            WHERE b.what = 'rate' AND b.scope = 'kind' AND b.kind = s.kind
        ),
        through AS MATERIALIZED (
            SELECT setval('queue.work_gate', pg_current_xact_id()::text::bigint) WHERE EXISTS (SELECT FROM taken)
        )
    """


@cache
def gated_statement(size: int, num_kinds: int) -> DriverStatement:
    """Return the claim through the gate. It goes round the turns and takes at most $7 items of each.

    It answers with at least one row. `state` is open; or busy, while another claim is in the gate; or stale, when one
    went through after this statement began: then nothing was taken, and it is to be sent again. `is_gated` says that
    something still bounds claims. `is_cut` says that it did not get round all turns, or left some of what it found:
    there may be more. `has_shared` says that items wait
    for the shared turn which org's limits cannot tell apart: they are to be given turns of their own.

    Candidates are read without locks, since no other claim is in the gate, then locked and looked at again. Rooms are
    applied one after the other, so each holds; what one of them drops is met by the next statement.

    Args:
        size: One of `SIZES`, the smallest that is not below $8.
        num_kinds: How many kinds $2 holds.
    """
    lowest = (
        f"(SELECT CASE WHEN is_by_org THEN '00000000-0000-0000-0000-000000000001' ELSE {SHARED_TURN} END FROM gate)"
    )
    kinds = kinds_from(num_kinds)
    return statement(
        f"claim_through_gate_{size}_of_{num_kinds}",
        f"""
        WITH RECURSIVE {_gate(kinds)}, {LIVE}, {_kinds(num_kinds)},
        {walk("kinds AS k", lowest=lowest, num_turns=str(MAX_TURNS))},
        picked AS MATERIALIZED (
            SELECT p.* FROM (
                SELECT w.place, w.turn, o.room AS org_room, c.* FROM walk AS w
                CROSS JOIN LATERAL ({_ORG}) AS o
                CROSS JOIN LATERAL ({_CANDIDATES}) AS c
                LIMIT $8
            ) AS p
            LIMIT {size}
        ),
        {_taking(size)},
        round_trip AS MATERIALIZED (
            SELECT f.is_full, NOT f.is_full AND (SELECT count(*) FROM walk) >= {MAX_TURNS} AS is_cut
            FROM (SELECT count(*) >= $8 AS is_full FROM picked) AS f
        )
        SELECT gate.state, gate.is_gated, {has_waiting(kinds)} AS has_waiting,
            r.is_cut OR (SELECT count(*) FROM picked) > (SELECT count(*) FROM taken) AS is_cut,
            gate.is_by_org AND {has_shared(kinds)} AS has_shared,
            CASE
                WHEN r.is_full THEN (SELECT turn FROM picked ORDER BY place DESC LIMIT 1)
                WHEN r.is_cut THEN (SELECT turn FROM walk ORDER BY place DESC LIMIT 1)
            END AS served,
            (SELECT count(*) FROM through) AS num_through,
            taken.*
        FROM gate CROSS JOIN round_trip AS r LEFT JOIN taken ON TRUE
        """,
    )
