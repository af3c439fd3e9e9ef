"""How the server is told to plan, by what a connection is for."""

import pytest

from headrace.om.base import new_id
from headrace.om.storage.database import Database, DriverStatement, Purpose
from headrace.om.storage.roles import DatabaseRole

pytestmark = pytest.mark.servers


async def test_control_statements_walk_indexes_by_one_plan_for_all_and_others_as_the_server_has_it(
    database: Database,
) -> None:
    ask = DriverStatement("settings", DatabaseRole.QUEUE, "SELECT current_setting($1)")
    seen: dict[Purpose, list[str]] = {}
    for purpose in Purpose:
        async with database.driver_for(ask, org_id=new_id(), purpose=purpose) as connection:
            names = ("plan_cache_mode", "enable_bitmapscan")
            seen[purpose] = [(await connection.fetch(ask.sql, name))[0][0] for name in names]
    assert seen == {Purpose.MAIN: ["auto", "on"], Purpose.CONTROL: ["force_generic_plan", "off"]}
