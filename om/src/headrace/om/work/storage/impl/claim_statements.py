"""The claim's SQL while nothing bounds it: whose turn it is, and the items that are taken.

An item whose time has come waits for a turn: its org's, or the one turn that all share where fair share is off. A
claim goes round the turns, beginning after the one that the claimer served last. Within a turn the highest priority
comes first, then the item that has been due longest. An item that is not due has no turn; `place_statement` gives it
one once its time has come, which is what keeps future items out of the claim's index.

Parameters of every claim: $1 the lane, $2 the kinds, $3 the worker, $4 the lease, $5 the turn that was served last, $6
how many items at most. The statement also has a size as a literal, at least as large as $6: from a parameter alone the
planner would guess a share of the table. There are few sizes, so that there are few plans.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from headrace.om.storage.database import DriverStatement
from headrace.om.work.storage.impl.counting import PLATFORM
from headrace.om.work.storage.impl.statements import OF_I, statement

SHARED_TURN: Final = PLATFORM
"""The turn of every item that was enqueued with fair share off."""

SIZES: Final = (1, 10, 100, 1000)
"""The sizes of claims that have statements of their own."""

PLACE_LIMIT: Final = 1000
"""Items that are given a turn in one statement."""

DUE: Final = "status = 'queued' AND turn IS NOT NULL AND lane = $1"
"""What the claim's index holds of a lane."""

CLAIM: Final = f"""
    UPDATE queue.work_items AS i SET
        status = 'claimed', claim_token = gen_random_uuid(), claimed_by = $3,
        lease_expires_at = now() + $4::interval, attempts = attempts + 1, started_at = now(), turn = NULL,
        progress = NULL, progress_note = NULL, updated_at = now(), updated_by = {PLATFORM}
"""
"""What a claim writes; an item that comes back to the queue has no turn until it is due."""

ORDER: Final = "priority DESC, available_at, id"
"""The order of items within a turn."""

HAS_CONTROLS: Final = """
    EXISTS (
        SELECT FROM queue.work_controls
        WHERE (scope = 'kind' AND kind = ANY($2)) OR (scope = 'lane' AND lane = $1)
            OR (scope = 'org' AND (kind = '' OR kind = ANY($2)))
    )
"""
"""Whether anything is said about the lane, its kinds or orgs. What is said about keys matters to items with a key."""


def kinds_from(num_kinds: int) -> str:
    """Return the kinds as rows called k, each named: of an array the planner would take them for ten."""
    return f"(VALUES {', '.join(f'(($2::text[])[{place}])' for place in range(1, num_kinds + 1))}) AS k (kind)"


def _any(kinds: str, condition: str, order: str) -> str:
    """Return the condition that there is such an item of one of the kinds: one descent of an index for each.

    An order that the index has, since the planner would rather read the table when any row will do; and not EXISTS,
    which lets the planner drop the order.
    """
    return f"""
        (
            SELECT TRUE FROM {kinds} CROSS JOIN LATERAL (
                SELECT FROM queue.work_items
                WHERE status = 'queued' AND lane = $1 AND kind = k.kind AND {condition} ORDER BY {order} LIMIT 1
            ) AS i
            LIMIT 1
        ) IS NOT NULL
    """


def has_waiting(kinds: str) -> str:
    """Return the condition that an item became due which has no turn yet."""
    return _any(kinds, "turn IS NULL AND available_at <= now()", "available_at")


def has_keyed(kinds: str) -> str:
    """Return the condition that items with a key are due."""
    return _any(kinds, "turn IS NOT NULL AND line <> 0", "available_at")


def has_shared(kinds: str) -> str:
    """Return the condition that items wait for the turn that all share."""
    return _any(kinds, f"turn IS NOT NULL AND turn = {SHARED_TURN} AND line = 0", ORDER)


def next_turn(kinds: str, bound: str) -> str:
    """Return the query for the first turn within a bound: one descent of the claim's index for each kind."""
    return f"""
        SELECT n.turn FROM {kinds} CROSS JOIN LATERAL (
            SELECT turn FROM queue.work_items WHERE {DUE} AND kind = k.kind AND {bound} ORDER BY turn LIMIT 1
        ) AS n
        ORDER BY n.turn LIMIT 1
    """


def walk(kinds: str, *, lowest: str, num_turns: str) -> str:
    """Return the common table expressions that walk round the turns; `walk` has them with their place in the round.

    Read row by row by whoever needs the next one.

    Args:
        kinds: Where the kinds come from, called k.
        lowest: No turn below this one; NULL for none at all.
        num_turns: Turns at most.
    """
    return f"""
        later (turn) AS (
            ({next_turn(kinds, f"turn > $5 AND turn >= {lowest}")})
            UNION ALL
            SELECT n.turn FROM later AS l CROSS JOIN LATERAL ({next_turn(kinds, "turn > l.turn")}) AS n
        ),
        earlier (turn) AS (
            ({next_turn(kinds, f"turn <= $5 AND turn >= {lowest}")})
            UNION ALL
            SELECT n.turn FROM earlier AS e CROSS JOIN LATERAL ({next_turn(kinds, "turn > e.turn AND turn <= $5")}) AS n
        ),
        walk (turn, place) AS MATERIALIZED (
            SELECT w.turn, row_number() OVER ()
            FROM (SELECT turn FROM later UNION ALL SELECT turn FROM earlier LIMIT {num_turns}) AS w
        )
    """


def _rows_of_one_kind(_kinds: str, besides: str, take: str) -> str:
    return f"""
        SELECT org_id, id FROM queue.work_items
        WHERE {DUE} AND kind = ($2::text[])[1] AND turn = w.turn AND line = 0 AND available_at <= now() AND {besides}
        ORDER BY {ORDER} LIMIT {take} FOR UPDATE SKIP LOCKED
    """


def _rows_of_kinds(kinds: str, besides: str, take: str) -> str:
    """Return the query for a turn's items where a worker has several kinds, by priority across them.

    For each priority in use from the highest down: the kinds that have it, the one that has waited longest first.
    """
    level = f"{DUE} AND kind = k.kind AND turn = w.turn AND line = 0"
    highest = f"""
        SELECT t.priority FROM {kinds} CROSS JOIN LATERAL (
            SELECT priority FROM queue.work_items WHERE {level} AND {{bound}} ORDER BY priority DESC LIMIT 1
        ) AS t
        ORDER BY t.priority DESC LIMIT 1
    """
    return f"""
        WITH RECURSIVE levels (priority) AS (
            ({highest.format(bound="TRUE")})
            UNION ALL
            SELECT b.priority FROM levels AS l CROSS JOIN LATERAL ({highest.format(bound="priority < l.priority")}) AS b
        )
        SELECT d.org_id, d.id
        FROM levels AS l
        CROSS JOIN LATERAL (
            SELECT k.kind FROM {kinds} CROSS JOIN LATERAL (
                SELECT available_at FROM queue.work_items
                WHERE {level} AND priority = l.priority AND available_at <= now() ORDER BY available_at LIMIT 1
            ) AS h
            ORDER BY h.available_at, k.kind
        ) AS k
        CROSS JOIN LATERAL (
            SELECT org_id, id FROM queue.work_items
            WHERE {level} AND priority = l.priority AND available_at <= now() AND {besides}
            ORDER BY available_at, id LIMIT {take} FOR UPDATE SKIP LOCKED
        ) AS d
        LIMIT {take}
    """


NOT_SHARED: Final = "(org_id, id) NOT IN (SELECT org_id, id FROM shares)"


@cache
def claim_statement(size: int, num_kinds: int) -> DriverStatement:
    """Return the claim for a lane whose claims nothing bounds.

    It answers with at least one row. `is_gated` says that something does bound them, or that items with a key are
    due: then nothing was taken, and `gated_statement` is to be asked. `has_waiting` says that items became due that
    have no turn yet. `served` is the turn to begin after next time. `is_cut` says that the round may have more turns:
    where less was taken than asked for, others were claiming those items, and the next turns are to be looked at.

    Each turn gets an equal share; what is left over then goes to whoever has more. Rows are locked while they are
    picked, and the picking stops at the limit.

    Args:
        size: One of `SIZES`, the smallest that is not below $6.
        num_kinds: How many kinds $2 holds.
    """
    kinds = kinds_from(num_kinds)
    rows = _rows_of_one_kind if num_kinds == 1 else _rows_of_kinds
    lowest = f"(SELECT CASE WHEN NOT is_gated THEN {SHARED_TURN} END FROM gate)"
    return statement(
        f"claim_{size}_of_{num_kinds}",
        f"""
        WITH RECURSIVE gate AS MATERIALIZED (SELECT {HAS_CONTROLS} OR {has_keyed(kinds)} AS is_gated),
        {_picked_one(kinds, rows, lowest) if size == 1 else _picked_many(kinds, rows, lowest, size)},
        taken AS (
            {CLAIM}
            FROM picked WHERE i.org_id = picked.org_id AND i.id = picked.id
            RETURNING i.org_id, {OF_I}
        )
        SELECT gate.is_gated, {has_waiting(kinds)} AS has_waiting, round_trip.served, round_trip.is_cut, taken.*
        FROM gate CROSS JOIN round_trip LEFT JOIN taken ON TRUE
        """,
    )


type Rows = Callable[[str, str, str], str]
"""Returns the query for a turn's items: from which kinds, on what condition besides, how many to take."""


def _picked_one(kinds: str, rows: Rows, lowest: str) -> str:
    """Return the parts that pick the first item of the next turn, as `_picked_many` would with less to set up."""
    return f"""
        walk AS MATERIALIZED (
            SELECT n.turn FROM (
                ({next_turn(kinds, f"turn > $5 AND turn >= {lowest}")})
                UNION ALL
                ({next_turn(kinds, f"turn <= $5 AND turn >= {lowest}")})
            ) AS n
            LIMIT 1
        ),
        picked AS (
            SELECT r.org_id, r.id FROM walk AS w CROSS JOIN LATERAL ({rows(kinds, "TRUE", "$6")}) AS r LIMIT 1
        ),
        round_trip AS (
            SELECT w.turn AS served, w.turn IS NOT NULL AS is_cut FROM (SELECT) AS always LEFT JOIN walk AS w ON TRUE
        )
    """


def _picked_many(kinds: str, rows: Rows, lowest: str, size: int) -> str:
    """Return the parts that pick an equal share of each turn, then what is left over from who has more."""
    share = "(SELECT num FROM share)"
    return f"""
        {walk(kinds, lowest=lowest, num_turns="$6")},
        share AS MATERIALIZED (
            -- Rounded down: rounded up, the first turns would take the shares of the last ones.
            SELECT $6 / greatest(count(*), 1) AS num, count(*) >= $6 AS is_cut FROM walk
        ),
        shares AS MATERIALIZED (
            SELECT r.org_id, r.id FROM walk AS w CROSS JOIN LATERAL ({rows(kinds, "TRUE", share)}) AS r
        ),
        -- What is left over is told from the shares by name: an offset would count only those of them that the update,
        -- which runs while this is read, has not got to.
        picked AS (
            SELECT p.org_id, p.id FROM (
                SELECT org_id, id FROM shares
                UNION ALL
                SELECT r.org_id, r.id FROM walk AS w CROSS JOIN LATERAL ({rows(kinds, NOT_SHARED, "$6")}) AS r
                WHERE {share} < $6
                LIMIT $6
            ) AS p
            LIMIT {size}
        ),
        -- A round that was cut goes on behind its last turn; a whole one begins one turn later next time.
        round_trip AS (
            SELECT (SELECT turn FROM walk ORDER BY CASE WHEN s.is_cut THEN -place ELSE place END LIMIT 1) AS served,
                s.is_cut
            FROM share AS s
        )
    """


@cache
def place_statement(num_kinds: int) -> DriverStatement:
    """Return what gives a turn to items that became due; it returns their ids.

    $3 says whether each org has a turn of its own. An item with a key always waits for its org's: keys are the org's.
    """
    return statement(
        f"place_due_of_{num_kinds}",
        f"""
        UPDATE queue.work_items AS i SET
            turn = CASE WHEN $3::boolean OR i.line <> 0 THEN i.org_id ELSE {SHARED_TURN} END
        FROM (
            SELECT w.org_id, w.id FROM {kinds_from(num_kinds)} CROSS JOIN LATERAL (
                SELECT org_id, id FROM queue.work_items
                WHERE status = 'queued' AND turn IS NULL AND lane = $1 AND kind = k.kind AND available_at <= now()
                ORDER BY available_at, id LIMIT {PLACE_LIMIT} FOR UPDATE SKIP LOCKED
            ) AS w
            LIMIT {PLACE_LIMIT}
        ) AS p
        WHERE i.org_id = p.org_id AND i.id = p.id
        RETURNING i.id
        """,
    )


@cache
def spread_statement(num_kinds: int) -> DriverStatement:
    """Return what gives items that share a turn their own orgs' turns; it returns their ids.

    For claims that have to tell orgs apart.
    """
    return statement(
        f"spread_shared_of_{num_kinds}",
        f"""
        UPDATE queue.work_items AS i SET turn = i.org_id
        FROM (
            SELECT w.org_id, w.id FROM {kinds_from(num_kinds)} CROSS JOIN LATERAL (
                SELECT org_id, id FROM queue.work_items
                WHERE {DUE} AND kind = k.kind AND turn = {SHARED_TURN} AND line = 0
                ORDER BY {ORDER} LIMIT {PLACE_LIMIT} FOR UPDATE SKIP LOCKED
            ) AS w
            LIMIT {PLACE_LIMIT}
        ) AS p
        WHERE i.org_id = p.org_id AND i.id = p.id
        RETURNING i.id
        """,
    )
