"""The statements of schedules."""

from typing import Final

from headrace.om.work.storage.impl.item_columns import INSERTED_NAMES, NAMES, unnested, written
from headrace.om.work.storage.impl.statements import statement

SCHEDULE_FIELDS: Final = (
    "id, name, kind, payload::text AS payload, lane, priority, max_attempts, cron, time_zone, every, anchor_at, "
    "missed, missed_after, overlap, is_enabled, next_fire_at, last_fired_at, last_error, created_at, created_by, "
    "updated_at, updated_by"
)

TIMING: Final = ("cron", "time_zone", "every", "anchor_at", "is_enabled")
"""What says when; while none of it changes, the tick that is waited for stays."""

CREATE_SCHEDULE: Final = statement(
    "create_schedule",
    """
    INSERT INTO queue.work_schedules (
        org_id, id, name, kind, payload, lane, priority, max_attempts, cron, time_zone, every, anchor_at, missed,
        missed_after, overlap, is_enabled, next_fire_at, created_at, created_by, updated_at, updated_by
    )
    VALUES (
        $1, $2, $3, $4, $5::text::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21
    )
    ON CONFLICT DO NOTHING
    RETURNING id
    """,
)

_SAME_TIMING: Final = " AND ".join(
    f"{name} IS NOT DISTINCT FROM {value}"
    for name, value in zip(TIMING, ("$9", "$10", "$11", "$12", "$16"), strict=True)
)

WRITE_SCHEDULE: Final = statement(
    "write_schedule",
    # Decided on the locked row, so that a tick that is fired meanwhile is not waited for again.
    f"""
    UPDATE queue.work_schedules SET
        name = $3, kind = $4, payload = $5::text::jsonb, lane = $6, priority = $7, max_attempts = $8, cron = $9,
        time_zone = $10, every = $11, anchor_at = $12, missed = $13, missed_after = $14, overlap = $15,
        is_enabled = $16, next_fire_at = CASE WHEN {_SAME_TIMING} THEN next_fire_at ELSE $17 END, last_error = NULL,
        updated_at = $18, updated_by = $19
    WHERE org_id = $1 AND id = $2
    RETURNING {SCHEDULE_FIELDS}
    """,
)

READ_SCHEDULE: Final = statement(
    "read_schedule", f"SELECT {SCHEDULE_FIELDS} FROM queue.work_schedules WHERE org_id = $1 AND id = $2"
)

READ_SCHEDULES: Final = statement(
    "read_schedules",
    # Walks the primary key downwards from the id that the last page ended with.
    f"""
    SELECT {SCHEDULE_FIELDS} FROM queue.work_schedules
    WHERE org_id = $1 AND ($2::uuid IS NULL OR id < $2)
    ORDER BY id DESC LIMIT $3
    """,
)

DELETE_SCHEDULE: Final = statement(
    "delete_schedule", "DELETE FROM queue.work_schedules WHERE org_id = $1 AND id = $2 RETURNING id"
)

DELETE_SCHEDULES: Final = statement(
    "delete_schedules",
    """
    DELETE FROM queue.work_schedules WHERE org_id = $1 AND id = ANY(ARRAY(
        SELECT id FROM queue.work_schedules WHERE org_id = $1 ORDER BY id LIMIT $2 FOR UPDATE
    ))
    RETURNING id
    """,
)

NUM_FIRING_PARAMETERS: Final = 6

FIRE_SCHEDULE: Final = statement(
    "fire_schedule",
    # Compares and moves on the locked row: of any number that saw the same tick, one finds it there still. Who set the
    # schedule up stays named, since its items are enqueued in that name. Sorted as
    # every insert of items is, so that no two wait for each other in a circle.
    f"""
    WITH fired AS (
        UPDATE queue.work_schedules SET
            next_fire_at = $4, last_fired_at = coalesce($5, last_fired_at), last_error = $6
        WHERE org_id = $1 AND id = $2 AND next_fire_at = $3 AND next_fire_at <= now()
        RETURNING id
    ),
    inserted AS (
        INSERT INTO queue.work_items ({INSERTED_NAMES})
        SELECT $1, {written("$1")}
        FROM {unnested(first=NUM_FIRING_PARAMETERS + 1)} WITH ORDINALITY AS n ({NAMES}, position)
        WHERE EXISTS (SELECT FROM fired)
        ORDER BY n.unique_hash NULLS LAST, n.idempotency_key NULLS LAST, n.position
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT EXISTS (SELECT FROM fired) AS is_current, ARRAY(SELECT id FROM inserted) AS item_ids
    """,
)

READ_DUE_SCHEDULES: Final = statement(
    "read_due_schedules",
    f"""
    SELECT org_id, now() AS now, {SCHEDULE_FIELDS} FROM queue.work_schedules
    WHERE next_fire_at <= now() ORDER BY next_fire_at LIMIT $1
    """,
)

READ_NEXT_TICK: Final = statement(
    "read_next_tick",
    # Greatest of nothing and zero is zero, so that nothing must be left out before.
    """
    SELECT greatest(next_fire_at - now(), interval '0') AS left_over FROM queue.work_schedules
    WHERE next_fire_at IS NOT NULL ORDER BY next_fire_at LIMIT 1
    """,
)

READ_CLOCK: Final = statement("read_clock", "SELECT now() AS now")
