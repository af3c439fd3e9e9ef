"""The place of a test that leaves the session's servers alone."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest

from headrace.tools.dev import LoginUrls
from tests.fixtures.database import empty_tables
from tests.fixtures.workers import StartWorker

if TYPE_CHECKING:
    from tests.chaos.site import Site


@pytest.fixture
async def site(
    module_login_urls: LoginUrls,
    module_admin_dsn: str,
    admin_connection: asyncpg.Connection,
    tmp_path: Path,
    start_worker: StartWorker,
) -> AsyncIterator["Site"]:
    """A place over this module's database, whose tables are empty now; wake-ups come by NOTIFY."""
    from tests.chaos.site import open_site  # noqa: PLC0415 - it imports the platform: only who takes it pays

    await empty_tables(admin_connection)
    async with open_site(
        module_login_urls, module_admin_dsn, tmp_path, start_worker, topics_backend="postgres"
    ) as opened:
        yield opened
