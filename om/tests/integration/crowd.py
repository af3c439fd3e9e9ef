"""Two million rows that no hot statement may pay for: settled ones, and ones that are due later, of a thousand orgs.

All in the lane and of the kind that is claimed. A module that takes them adds its own rows and takes them away again.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import asyncpg

from headrace.tools.dev import PostgresServer
from headrace.tools.dev.postgres import run_apart
from om.tests.contracts.work_items import LANE
from tests.fixtures.database import copied_database

NUM_ORGS: Final = 1000
ROWS_OF_EACH: Final = 1000
"""Settled rows of each org, and as many that are due later."""

NUM_RUNNING: Final = 100
TIMEOUT_SECONDS: Final = 280

FILL: Final = """
INSERT INTO queue.work_items (org_id, id, kind, lane, origin, payload, priority, available_at, status, max_attempts,
    settled_at, claim_token, lease_expires_at, created_at, created_by, updated_at, updated_by)
SELECT org.id, (lpad($1, 8, '0') || lpad(to_hex(n), 24, '0'))::uuid, 'NOOP', $2, 'plans', '{}', n % 3,
    now() + $3::interval, $4, 3, CASE WHEN $4 = 'done' THEN now() END,
    CASE WHEN $4 = 'claimed' THEN gen_random_uuid() END, CASE WHEN $4 = 'claimed' THEN now() + interval '1 hour' END,
    now(), org.id, now(), org.id
FROM generate_series(1, $5::int) AS n
CROSS JOIN LATERAL (SELECT lpad(to_hex(1 + (n - 1) / ($5 / $6::int)), 32, '0')::uuid AS id) AS org
"""

FILL_DUE: Final = """
INSERT INTO queue.work_items (org_id, id, kind, lane, origin, payload, priority, available_at, status, max_attempts,
    created_at, created_by, updated_at, updated_by, turn, line, concurrency_key, ordering_key)
SELECT org.id, ('d' || lpad(to_hex(n * 16 + place), 31, '0'))::uuid, 'NOOP', $1, 'plans', '{}', place,
    now() - interval '1 minute', 'queued', 3, now(), org.id, now(), org.id, org.id,
    CASE WHEN place = 3 THEN 7 WHEN place = 4 THEN 9 ELSE 0 END,
    CASE WHEN place = 3 THEN 'key' END, CASE WHEN place = 4 THEN 'key' END
FROM generate_series(1, $2::int) AS n
CROSS JOIN generate_series(1, $3::int) AS place
CROSS JOIN LATERAL (SELECT lpad(to_hex(n), 32, '0')::uuid AS id) AS org
"""

TAKE_AWAY: Final = "DELETE FROM queue.work_items WHERE id >= '00100000-0000-0000-0000-000000000000'"
"""What a module added: its ids are greater than those of the two million."""


NUM_SNAPSHOTS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
"""
QUIET_POLL_SECONDS: Final = 0.02


@contextmanager
def crowded_database(server: PostgresServer, template: str, num_orgs: int = NUM_ORGS) -> Iterator[str]:
    """The superuser's URL of a database with so many orgs' settled and future rows, and some that run."""
    with copied_database(server, template) as dsn:
        run_apart(lambda: _fill(dsn, num_orgs))
        yield dsn


async def take_away(dsn: str) -> None:
    """Remove what a module added, and what that left in the indexes."""
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=TIMEOUT_SECONDS)
    await connection.execute("TRUNCATE queue.work_controls, queue.work_bundles")
    await connection.execute(TAKE_AWAY)
    await _until_quiet(connection)
    await connection.execute("VACUUM (INDEX_CLEANUP ON) queue.work_items")
    await connection.close()


async def _until_quiet(connection: asyncpg.Connection) -> None:
    """Return when nobody else in the database has a snapshot: what was removed meanwhile could not be cleaned up.

    Entries of such rows would be met by the next case's claims, one look at the table each.
    """
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while await connection.fetchval(NUM_SNAPSHOTS):  # noqa: ASYNC110 - no event tells when a session lets go
            await asyncio.sleep(QUIET_POLL_SECONDS)


async def _fill(dsn: str, num_orgs: int) -> None:
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=TIMEOUT_SECONDS)
    # One under way would keep what a case leaves behind from being cleaned up before the next one.
    for table in ("work_items", "work_bundles", "work_controls"):
        await connection.execute(f"ALTER TABLE queue.{table} SET (autovacuum_enabled = false)")
    for batch, due_in, status, num_rows in (
        ("a", timedelta(hours=-2), "done", num_orgs * ROWS_OF_EACH),
        ("c", timedelta(hours=9), "queued", num_orgs * ROWS_OF_EACH),
        ("e", timedelta(hours=-1), "claimed", NUM_RUNNING),
    ):
        await connection.execute(FILL, batch, LANE, due_in, status, num_rows, min(num_orgs, num_rows))
    await connection.execute("VACUUM ANALYZE queue.work_items")
    await connection.close()
