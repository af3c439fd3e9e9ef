"""How every part of the queue over PostgreSQL sends its statements, on the driver's own connection."""

from typing import Any, Final
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.database import Database, DriverStatement, Purpose

CONTROL: Final = Purpose.CONTROL


class WorkPostgresPart:
    """The base of the parts; every method is one statement, or one and another that looks closer.

    Args:
        database: The engines.
        fair_share: Whether items enqueued here wait for their own org's turn, so that claims go round the orgs. Turned
            off, they share one turn, whoever they belong to.
    """

    def __init__(self, database: Database, *, fair_share: bool = True) -> None:
        self._database = database
        self._fair_share = fair_share

    async def _rows(
        self,
        stmt: DriverStatement,
        org_id: UUID,
        *args: Any,  # noqa: ANN401 - the driver takes values of any type
        purpose: Purpose = Purpose.MAIN,
    ) -> list[asyncpg.Record]:
        """Run one tenant's statement, whose first parameter is the tenant."""
        async with self._database.driver_for(stmt, org_id=org_id, purpose=purpose) as connection:
            return await connection.fetch(stmt.sql, org_id, *args)

    async def _rows_of(
        self,
        stmt: DriverStatement,
        org_id: UUID,
        *args: Any,  # noqa: ANN401 - likewise
    ) -> list[asyncpg.Record]:
        """Run a statement whose rows name their tenants, as a control statement: for one tenant, or across them.

        Across tenants it is one of the enumerated statements, and runs under the system scope, `EMPTY_UUID`.
        """
        async with self._database.driver_for(stmt, org_id=org_id, purpose=CONTROL) as connection:
            return await connection.fetch(stmt.sql, *args)

    async def _rows_across(
        self,
        stmt: DriverStatement,
        *args: Any,  # noqa: ANN401 - likewise
    ) -> list[asyncpg.Record]:
        """Run one of the enumerated statements across tenants, under the system scope."""
        return await self._rows_of(stmt, EMPTY_UUID, *args)
