"""The ground that everything is measured on: a PostgreSQL server of the bench's own, as durable as it comes."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from headrace.tools.bench.database_counters import server_seconds
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.dev import DevServerError, PostgresServer
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.processes import PidRecord
from headrace.tools.dev.state import PASSABLE, servers_directory, state_directory

SERVER_SETTINGS: Final[Mapping[str, str]] = {
    "shared_preload_libraries": "pg_stat_statements,auto_explain",  # the latter tells nothing until it is asked to
    "max_connections": "300",
    "max_wal_size": "4GB",  # so that no checkpoint falls into one run and not into the next
}
"""What differs from PostgreSQL's defaults; durability does not: fsync and synchronous_commit stay on."""

TOLD_SETTINGS: Final = (
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "shared_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "autovacuum",
    "work_mem",
    "jit",
)
"""Settings that a report names."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A running server.

    Attributes:
        server: The server.
        folder: Where runs may leave files; removed with the server.
    """

    server: PostgresServer
    folder: Path

    @property
    def postmaster_pid(self) -> int:
        """The process id of the server's first process."""
        record = PidRecord.load(self.server.pid_file)
        if record is None:
            raise BenchError("The server of the bench does not run any more.")
        return record.server.pid

    def processor_seconds(self) -> float:
        """Return the processor seconds that the server has spent so far."""
        return server_seconds(self.postmaster_pid)

    async def create_database(self, name: str) -> str:
        """Create a database that counts its statements; return the administrator's URL of it."""
        dsn = await asyncio.to_thread(self.server.create_database, name)
        await asyncio.to_thread(self.server.execute, "CREATE EXTENSION pg_stat_statements", database=name)
        return dsn


@asynccontextmanager
async def open_ground(root: Path, settings: Mapping[str, str] = SERVER_SETTINGS) -> AsyncIterator[Ground]:
    """Start a server below the working tree's state folder; stop it and remove its data at the end.

    Raises:
        BenchError: There is no PostgreSQL on this machine, or it does not start.
    """
    try:
        parent = servers_directory(state_directory(root), server_identity())
        with tempfile.TemporaryDirectory(prefix="bench-", dir=parent, ignore_cleanup_errors=True) as folder:
            server = PostgresServer(await asyncio.to_thread(_passable, folder), settings=settings)
            await asyncio.to_thread(server.start)
            try:
                yield Ground(server, Path(folder))
            finally:
                await asyncio.to_thread(server.stop)
    except DevServerError as error:
        raise BenchError(str(error)) from error


def _passable(folder: str) -> Path:
    """Let the server's own user through to the folder; see `headrace.tools.dev.privileges`."""
    path = Path(folder)
    path.chmod(PASSABLE)
    return path


@asynccontextmanager
async def administrator(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Open the administrator's connection to a database; its statements are not counted as the system's."""
    connection = await asyncpg.connect(dsn, command_timeout=600)
    try:
        yield connection
    finally:
        await connection.close()


async def told_settings(admin: asyncpg.Connection) -> dict[str, str]:
    """Return what a report says of the server: its version, and the settings that matter to durability and speed."""
    rows = await admin.fetch(
        "SELECT name, current_setting(name) AS value FROM pg_settings WHERE name = ANY($1)", TOLD_SETTINGS
    )
    version = await admin.fetchval("SHOW server_version")
    return {"server_version": version, **{row["name"]: row["value"] for row in rows}}
