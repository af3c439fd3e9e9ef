"""How many buffers a statement touches: the same on a slow machine, unlike its time."""

import json
import logging
from collections.abc import Iterator
from typing import Any, Final, cast
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.database import Database, DriverConnection, DriverStatement, Purpose
from headrace.om.storage.roles import DatabaseRole

logger = logging.getLogger(__name__)

EXPLAIN: Final = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"


async def buffers_of(
    database: Database,
    stmt: DriverStatement,
    *args: Any,  # noqa: ANN401 - any parameter
    org_id: UUID = EMPTY_UUID,
    generic: bool = True,
) -> int:
    """Run the statement for a tenant, or across them, as the control pool does; return the buffers that it touched.

    Args:
        database: Where.
        stmt: What.
        args: Its parameters.
        org_id: Whose.
        generic: By the one plan that serves any parameters, as the control pool has it; else by one made for these, as
            behind a transaction pooler.
    """
    explained = DriverStatement(stmt.name, DatabaseRole.QUEUE, f"{EXPLAIN} {stmt.sql}")
    async with database.driver_for(explained, org_id=org_id, purpose=Purpose.CONTROL) as connection:
        if generic:
            rows = await _explained_generic(connection, stmt.sql, args)
        else:
            rows = await connection.fetch(explained.sql, *args)
    ((explanation,),) = rows
    plan = (json.loads(explanation) if isinstance(explanation, str) else explanation)[0]["Plan"]
    # Shown with a case that fails: which part of the plan the buffers went to.
    logger.warning("%s touched, of %s:\n%s", _buffers(plan), stmt.name, "\n".join(_nodes(plan)))
    return _buffers(plan)


def _buffers(node: dict[str, Any]) -> int:
    return int(node["Shared Hit Blocks"] + node["Shared Read Blocks"])


def _nodes(node: dict[str, Any], depth: int = 0) -> Iterator[str]:
    named = (node.get(each) for each in ("Node Type", "Index Name", "Relation Name", "Subplan Name"))
    yield f"{'  ' * depth}{_buffers(node)} x{node['Actual Loops']} {' '.join(each for each in named if each)}"
    for below in node.get("Plans", ()):
        yield from _nodes(below, depth + 1)


async def _explained_generic(connection: DriverConnection, sql: str, args: tuple[Any, ...]) -> list[asyncpg.Record]:
    session = cast("asyncpg.Connection", connection)
    types = [each.name for each in (await session.prepare(sql)).get_parameters()]
    literals = [
        await session.fetchval(f"SELECT quote_nullable($1::{name}::text) || '::{name}'", arg)
        for name, arg in zip(types, args, strict=True)
    ]
    await session.execute(f"SET plan_cache_mode = force_generic_plan; PREPARE measured AS {sql}")
    try:
        given = f"({', '.join(literals)})" if literals else ""
        rows: list[asyncpg.Record] = await session.fetch(f"{EXPLAIN} EXECUTE measured{given}")
        return rows
    finally:
        await session.execute("DEALLOCATE measured; RESET plan_cache_mode")
