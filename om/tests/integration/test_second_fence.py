"""The negative control of the second fence: either fence alone keeps tenants apart, and without both nothing does.

On a scratch database the tenant is taken out of every WHERE that a storage sends. The cases of other tenants' rows
must stay green behind the policy, and must go red once the policy is off as well: a suite that cannot go red proves
nothing. The record is docs/adr/0003-second-fence.md.
"""

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, override

import asyncpg
import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.storage.database import Database
from headrace.om.storage.options import DatabaseOptions
from om.tests.contracts.outbox_storage import OutboxStorageContract
from om.tests.integration.predicateless import PredicatelessDatabase

pytestmark = pytest.mark.servers

COMPARISON = re.compile(r"\bcore\.outbox_rows\.org_id = (\$\d+::UUID)")

type Case = Callable[[OutboxStorageContract, OutboxStoragePostgresImpl], Awaitable[None]]

CASES = {
    name: case
    for name, case in inspect.getmembers(OutboxStorageContract, inspect.isfunction)
    if name.startswith("test_nothing_is_") and name.endswith("_when_the_row_is_another_tenants")
}


class PredicatelessOutbox(PredicatelessDatabase):
    """Sends SQLAlchemy's statements without it as well; the parameter stays, so the rest is as it was."""

    @override
    def _new_engine(self, key: Any) -> AsyncEngine:
        engine = super()._new_engine(key)
        event.listen(engine.sync_engine, "before_cursor_execute", self._remove_tenant, retval=True)
        return engine

    def _remove_tenant(self, _c: object, _k: object, sql: str, parameters: object, *_: object) -> tuple[str, object]:
        changed, num_removed = COMPARISON.subn(r"(\1 IS NOT NULL)", sql)
        self.num_removed += num_removed
        return changed, parameters


@pytest.fixture
async def predicateless(database_options: DatabaseOptions) -> AsyncIterator[PredicatelessDatabase]:
    database = PredicatelessOutbox(database_options)
    yield database
    await database.close()


@pytest.fixture
async def policy_off(admin_connection: asyncpg.Connection) -> AsyncIterator[None]:
    await admin_connection.execute("ALTER TABLE core.outbox_rows DISABLE ROW LEVEL SECURITY")
    yield
    await admin_connection.execute("ALTER TABLE core.outbox_rows ENABLE ROW LEVEL SECURITY")


def test_there_is_a_case_for_every_method_that_takes_a_tenant_and_rows() -> None:
    assert len(CASES) == 3


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_policy_alone_keeps_tenants_apart_when_the_predicate_is_out(
    predicateless: PredicatelessDatabase, case: Case
) -> None:
    await case(OutboxStorageContract(), OutboxStoragePostgresImpl(predicateless))
    assert predicateless.num_removed > 0


@pytest.mark.usefixtures("policy_off")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_predicate_alone_keeps_tenants_apart_when_the_policy_is_off(database: Database, case: Case) -> None:
    await case(OutboxStorageContract(), OutboxStoragePostgresImpl(database))


@pytest.mark.usefixtures("policy_off")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_tenants_reach_each_other_when_both_are_gone(predicateless: PredicatelessDatabase, case: Case) -> None:
    with pytest.raises(AssertionError):
        await case(OutboxStorageContract(), OutboxStoragePostgresImpl(predicateless))
