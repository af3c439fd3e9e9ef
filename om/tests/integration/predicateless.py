"""A driver's connection for the negative controls of the second fence."""

import re
from typing import Any, Final

import asyncpg

from headrace.om.storage.database import DriverConnection

COMPARISON: Final = re.compile(r"\b(?:i\.)?org_id = (\$1|[sr]\.org_id)")


class Predicateless:
    """A driver's connection that sends no comparison of the tenant; the parameter stays, so the rest is as it was."""

    def __init__(self, connection: DriverConnection) -> None:
        self._connection = connection

    async def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:  # noqa: ANN401 - the driver's own signature
        changed, num_removed = COMPARISON.subn(r"(\1)::uuid IS NOT NULL", query)
        assert num_removed or "INSERT" in query
        return await self._connection.fetch(changed, *args)
