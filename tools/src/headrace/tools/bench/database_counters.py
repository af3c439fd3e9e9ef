"""What PostgreSQL counts: statements, commits, bytes of WAL, and what its processes spent."""

from dataclasses import dataclass
from typing import Final

import asyncpg

from headrace.tools.bench.proc import tree_processor_seconds

_COUNTED: Final = """
    userid <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""

_READ: Final = f"""
    SELECT
        s.num_statements, s.buffers,
        (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS num_commits,
        pg_current_wal_lsn() - '0/0'::pg_lsn AS wal_bytes
    FROM (
        SELECT coalesce(sum(calls), 0) AS num_statements,
            coalesce(sum(shared_blks_hit + shared_blks_read), 0) AS buffers
        FROM pg_stat_statements WHERE {_COUNTED}
    ) AS s
"""  # noqa: S608 - this module's own constant

_STATEMENTS: Final = f"""
    SELECT calls, rows, total_exec_time AS ms, total_plan_time AS plan_ms, wal_bytes,
        shared_blks_hit + shared_blks_read AS buffers, regexp_replace(query, '\\s+', ' ', 'g') AS sql
    FROM pg_stat_statements
    WHERE {_COUNTED}
    ORDER BY total_exec_time DESC LIMIT $1
"""  # noqa: S608 - this module's own constant


@dataclass(frozen=True, slots=True)
class Counters:
    """What had been counted at an instant.

    Attributes:
        num_statements: In this database, of every login but the administrator's.
        buffers: Pages that those statements touched.
        num_commits: In this database; a process's last ones are counted once it has ended.
        wal_bytes: Written by the whole server.
    """

    num_statements: int
    buffers: int
    num_commits: int
    wal_bytes: int

    def since(self, before: "Counters") -> "Counters":
        """Return what was counted in between."""
        return Counters(
            self.num_statements - before.num_statements,
            self.buffers - before.buffers,
            self.num_commits - before.num_commits,
            self.wal_bytes - before.wal_bytes,
        )


@dataclass(frozen=True, slots=True)
class StatementCost:
    """What one statement cost over all of its calls."""

    sql: str
    num_calls: int
    num_rows: int
    total_ms: float
    plan_ms: float
    wal_bytes: int
    buffers: int


async def read_counters(admin: asyncpg.Connection) -> Counters:
    """Return what the server has counted so far.

    Args:
        admin: The administrator's connection to the database; the bench's own polling goes over it too.
    """
    row = await admin.fetchrow(_READ)
    return Counters(*(int(row[name]) for name in ("num_statements", "buffers", "num_commits", "wal_bytes")))


async def forget_statements(admin: asyncpg.Connection) -> None:
    """Count the statements of this database anew, and no other's."""
    await admin.execute(
        "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()"
    )


async def read_statements(admin: asyncpg.Connection, limit: int) -> tuple[StatementCost, ...]:
    """Return the statements that took most time, the worst first."""
    rows = await admin.fetch(_STATEMENTS, limit)
    return tuple(
        StatementCost(
            sql=row["sql"].strip(),
            num_calls=row["calls"],
            num_rows=row["rows"],
            total_ms=row["ms"],
            plan_ms=row["plan_ms"],
            wal_bytes=int(row["wal_bytes"]),
            buffers=row["buffers"],
        )
        for row in rows
    )


def server_seconds(postmaster_pid: int) -> float:
    """Return the processor seconds of the server: of its processes that run and of those that have ended."""
    return tree_processor_seconds(postmaster_pid)
