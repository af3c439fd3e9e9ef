"""How many buffers a statement touches: the same on a slow machine, unlike its time."""

import json
from typing import Any

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.database import Database, DriverStatement, Purpose
from headrace.om.storage.roles import DatabaseRole


async def buffers_of(database: Database, stmt: DriverStatement, *args: Any) -> int:  # noqa: ANN401 - any parameter
    """Run the statement across tenants, as the control pool plans it, and return the buffers that it touched."""
    explained = DriverStatement(stmt.name, DatabaseRole.QUEUE, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {stmt.sql}")
    async with database.driver_for(explained, org_id=EMPTY_UUID, purpose=Purpose.CONTROL) as connection:
        rows = await connection.fetch(explained.sql, *args)
    ((explanation,),) = rows
    plan = (json.loads(explanation) if isinstance(explanation, str) else explanation)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
