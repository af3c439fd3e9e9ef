"""The negative control of the second fence for the queue, whose statements go to the driver as they are.

As in `test_second_fence.py`: the tenant is taken out of every statement that runs for one tenant. Statements across
tenants keep theirs: behind the system login the comparison is the only fence.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import new_id
from headrace.om.storage.database import Database
from headrace.om.storage.options import DatabaseOptions
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from om.tests.contracts.work_bundles import OtherTenantBundleCases
from om.tests.contracts.work_operating import OtherTenantCases
from om.tests.integration.predicateless import PredicatelessDatabase

pytestmark = pytest.mark.servers

type Case = Callable[[object, WorkStoragePostgresImpl, UUID, UUID], Awaitable[None]]

TABLES = ("queue.work_items", "queue.work_bundles")
CLASSES = (OtherTenantCases, OtherTenantBundleCases)
CASES = {
    name: (cases, case)
    for cases in CLASSES
    for name, case in vars(cases).items()
    if inspect.isfunction(case) and name.startswith("test_") and "insert" not in name
}


@pytest.fixture
async def predicateless(database_options: DatabaseOptions) -> AsyncIterator[Database]:
    database = PredicatelessDatabase(database_options)
    yield database
    await database.close()


@pytest.fixture
async def policy_off(admin_connection: asyncpg.Connection) -> AsyncIterator[None]:
    for table in TABLES:
        await admin_connection.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    yield
    for table in TABLES:
        await admin_connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


async def run(case: tuple[type, Case], database: Database) -> None:
    cases, method = case
    await method(cases(), WorkStoragePostgresImpl(database), new_id(), new_id())


def test_there_are_cases_for_reads_settlements_leases_operators_the_sweep_and_bundles() -> None:
    assert len(CASES) == 6 + 4


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_policy_alone_keeps_tenants_apart_when_the_predicate_is_out(
    predicateless: Database, case: tuple[type, Case]
) -> None:
    await run(case, predicateless)


@pytest.mark.usefixtures("policy_off")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_predicate_alone_keeps_tenants_apart_when_the_policy_is_off(
    database: Database, case: tuple[type, Case]
) -> None:
    await run(case, database)


@pytest.mark.usefixtures("policy_off")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_tenants_reach_each_other_when_both_are_gone(predicateless: Database, case: tuple[type, Case]) -> None:
    with pytest.raises(AssertionError):
        await run(case, predicateless)
