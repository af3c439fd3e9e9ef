"""A driver's connection for the negative controls of the second fence."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, override
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.database import Database, DriverConnection, DriverStatement, Purpose

COMPARISON: Final = re.compile(r"\b(?:\w+\.)?org_id = (\$1|[src]\.org_id)")


class Predicateless:
    """A driver's connection that sends no comparison of the tenant; the parameter stays, so the rest is as it was."""

    def __init__(self, connection: DriverConnection) -> None:
        self._connection = connection

    async def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:  # noqa: ANN401 - the driver's own signature
        changed, num_removed = COMPARISON.subn(r"(\1)::uuid IS NOT NULL", query)
        assert num_removed or "INSERT" in query
        return await self._connection.fetch(changed, *args)


class PredicatelessDatabase(Database):
    """Sends the driver's statements of one tenant without their comparison of the tenant."""

    num_removed = 0

    @asynccontextmanager
    @override
    async def driver_for(
        self, stmt: DriverStatement, *, org_id: UUID, purpose: Purpose = Purpose.MAIN
    ) -> AsyncIterator[DriverConnection]:
        async with super().driver_for(stmt, org_id=org_id, purpose=purpose) as connection:
            yield connection if org_id == EMPTY_UUID else Predicateless(connection)
        self.num_removed += int(org_id != EMPTY_UUID)
