"""The statements over items that a filter chooses: one for each set of fields that are given.

So that a plan is made for what is asked: a status stands in the text, where it meets the partial indexes, and a bundle
finds its own index. There are as many statements as combinations are used.
"""

from functools import cache
from typing import Final

from headrace.om.storage.database import DriverStatement
from headrace.om.work.storage.impl.counting import SETTLED, counting
from headrace.om.work.storage.impl.ending_statements import AS_CANCELLED, AS_NEW
from headrace.om.work.storage.impl.statements import FIELDS, statement
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus

CONDITIONS: Final = {
    "kind": "kind = {}::text",
    "lane": "lane = {}::text",
    "origin": "origin = {}::text",
    "bundle_id": "bundle_id = {}::uuid",
    "started_before": "started_at < {}::timestamptz",
    "has_error": "(last_error IS NOT NULL) = {}::boolean",
}
"""What each field of a filter compares, but for the status."""

FIRST: Final = 4
"""The number of the first parameter that belongs to the filter: before it are the tenant, the limit and the place."""


def given(where: WorkFilter) -> tuple[str, ...]:
    """Return which fields a filter gives, but for the status, in the order of their parameters."""
    return tuple(name for name in CONDITIONS if getattr(where, name) is not None)


def values(where: WorkFilter) -> tuple[object, ...]:
    """Return the parameters of a filter, in the same order."""
    return tuple(getattr(where, name) for name in given(where))


@cache
def read_items(fields: tuple[str, ...], status: WorkStatus | None) -> DriverStatement:
    """Return the statement that reads a page of items, newest first."""
    return statement(
        "read_items",
        f"""
        SELECT {FIELDS} FROM queue.work_items
        WHERE org_id = $1 AND ($3::uuid IS NULL OR id < $3) {_narrowed(fields, status)}
        ORDER BY id DESC LIMIT $2
        """,
    )


@cache
def read_settled(fields: tuple[str, ...], status: WorkStatus | None) -> DriverStatement:
    """Return the statement that reads which items a retry of many looks at, newest first."""
    return statement(
        "read_settled",
        f"""
        SELECT id, lane FROM queue.work_items
        WHERE org_id = $1 AND ($3::uuid IS NULL OR id < $3) {_narrowed(fields, status, settled=True)}
        ORDER BY id DESC LIMIT $2
        """,
    )


@cache
def cancel_items(fields: tuple[str, ...], status: WorkStatus | None) -> DriverStatement:
    """Return the statement that cancels a page of unsettled items, newest first; locks go by id, upwards."""
    return statement(
        "cancel_items",
        f"""
        WITH page AS MATERIALIZED (
            SELECT id FROM queue.work_items
            WHERE org_id = $1 AND ($3::uuid IS NULL OR id < $3) {_narrowed(fields, status)}
                AND status IN ('queued', 'claimed')
            ORDER BY id DESC LIMIT $2
        ),
        before AS (
            SELECT id FROM queue.work_items
            WHERE org_id = $1 AND id IN (SELECT id FROM page) AND status IN ('queued', 'claimed')
            ORDER BY id FOR UPDATE
        ),
        asked AS (
            UPDATE queue.work_items AS i SET {AS_CANCELLED}
            FROM before WHERE i.org_id = $1 AND i.id = before.id
            RETURNING i.*
        ),
        {counting("asked")}
        SELECT {FIELDS} FROM asked ORDER BY id DESC
        """,
    )


@cache
def retry_items(fields: tuple[str, ...], status: WorkStatus | None) -> DriverStatement:
    """Return the statement that queues a page of settled items again, newest first.

    Rows are locked in the order of their ids, whatever the page's. Those that agree with an unsettled one in what
    they are unique for are left out, and so are all but one of those that agree with each other; where another enqueue
    comes in between, the index breaks the statement.
    """
    return statement(
        "retry_items",
        f"""
        WITH page AS MATERIALIZED (
            SELECT id FROM queue.work_items
            WHERE org_id = $1 AND ($3::uuid IS NULL OR id < $3) {_narrowed(fields, status, settled=True)}
            ORDER BY id DESC LIMIT $2
        ),
        before AS (
            SELECT id, lane, status, unique_hash FROM queue.work_items
            WHERE org_id = $1 AND id IN (SELECT id FROM page) AND status IN {SETTLED}
            ORDER BY id FOR UPDATE
        ),
        free AS (
            SELECT DISTINCT ON (coalesce(unique_hash, id)) id, status FROM before
            WHERE unique_hash IS NULL OR NOT EXISTS (
                SELECT FROM queue.work_items AS other
                WHERE other.org_id = $1 AND other.unique_hash = before.unique_hash
                    AND other.status IN ('queued', 'claimed')
            )
            ORDER BY coalesce(unique_hash, id), id
        ),
        again AS (
            UPDATE queue.work_items AS i SET {AS_NEW}
            FROM free WHERE i.org_id = $1 AND i.id = free.id
            RETURNING i.*, free.status AS was
        ),
        {counting("again", status="was", where="TRUE", by=-1)}
        SELECT before.id, before.lane, again.id IS NOT NULL AS is_queued
        FROM before LEFT JOIN again ON again.id = before.id
        ORDER BY before.id DESC
        """,
    )


@cache
def delete_items(fields: tuple[str, ...], status: WorkStatus | None) -> DriverStatement:
    """Return the statement that removes settled items, oldest id first; those that others hold are passed over."""
    return statement(
        "delete_items",
        f"""
        DELETE FROM queue.work_items WHERE org_id = $1 AND id = ANY(ARRAY(
            SELECT id FROM queue.work_items
            WHERE org_id = $1 AND $3::uuid IS NULL {_narrowed(fields, status, settled=True)}
            ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
        ))
        RETURNING id
        """,
    )


def _narrowed(fields: tuple[str, ...], status: WorkStatus | None, *, settled: bool = False) -> str:
    conditions = [CONDITIONS[name].format(f"${FIRST + place}") for place, name in enumerate(fields)]
    conditions += [] if status is None else [f"status = '{status.value}'"]
    conditions += [f"status IN {SETTLED}"] if settled else []
    return "".join(f" AND {condition}" for condition in conditions)
