"""What a worker needs around it: PostgreSQL on the loopback interface, migrated, with an org that asks for work."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg

from headrace.tools.dev import LoginUrls, PostgresServer, create_logins
from headrace.tools.dev.postgres import UNSAFE_BUT_FAST, run_apart
from headrace.tools.image_smoke.exceptions import SmokeError

DATABASE: Final = "smoke"
COMMAND_SECONDS: Final = 120
ITEMS: Final = "SELECT status, last_error FROM queue.work_items WHERE kind = $1"


@dataclass(frozen=True, slots=True)
class ItemState:
    """Where a work item stands."""

    status: str
    last_error: str | None


@dataclass(frozen=True, slots=True)
class Ground:
    """A migrated database with an org.

    Attributes:
        admin_dsn: The superuser's way to it.
        urls: The three logins.
        org_id: The org.
        api_key: Signs in to it.
    """

    admin_dsn: str
    urls: LoginUrls
    org_id: str
    api_key: str

    def environment(self) -> dict[str, str]:
        """Return what every worker is told; the migration login is none of its business."""
        logins = {name: value for name, value in self.urls.environment().items() if "MIGRATION" not in name}
        return {**logins, "HEADRACE_ENVIRONMENT": "test", "HEADRACE_POLL_INTERVAL": "500ms"}

    def ask(self, *arguments: str) -> dict[str, Any]:
        """Run the operators' command line as the org; return its document."""
        return _headrace(self.urls, *arguments, api_key=self.api_key)

    def items(self, kind: str) -> tuple[ItemState, ...]:
        """Return the work items of a kind as they stand: read directly, since the command line takes a second."""
        rows = run_apart(lambda: _fetched(self.admin_dsn, ITEMS, kind))
        return tuple(ItemState(row["status"], row["last_error"]) for row in rows)


@contextmanager
def grounded(folder: Path) -> Iterator[Ground]:
    """Give the ground; its server keeps its data below the folder and is stopped on leaving.

    Raises:
        DevServerError: There is no PostgreSQL on this machine.
        SmokeError: The database cannot be migrated or seeded.
    """
    with PostgresServer(folder / "postgres", settings=UNSAFE_BUT_FAST) as server:
        dsn = server.create_database(DATABASE)
        urls = run_apart(lambda: create_logins(dsn))
        _headrace(urls, "migrate")
        seeded = _headrace(urls, "seed", "--org", "smoke", "--owner", "smoke-owner")
        yield Ground(dsn, urls, seeded["org_id"], seeded["token"])


async def _fetched(dsn: str, statement: str, *arguments: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=10)
    try:
        rows: list[asyncpg.Record] = await connection.fetch(statement, *arguments)
    finally:
        await connection.close()
    return rows


def _headrace(urls: LoginUrls, *arguments: str, api_key: str | None = None) -> dict[str, Any]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("HEADRACE_")}
    key: Mapping[str, str] = {} if api_key is None else {"HEADRACE_API_KEY": api_key}
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "headrace.workers.console.main", *arguments, "--json"],
        env={**own, **urls.environment(), **key},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_SECONDS,
    )
    if done.returncode != 0:
        raise SmokeError(f"headrace {arguments[0]} failed: {done.stderr.strip()}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document
