"""A process does not start with a login that row-level security does not hold for."""

from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import Unavailable
from headrace.om.storage.database import Database, DriverStatement
from headrace.om.storage.guards import LoginUnfit, refuse_unfit_database, refuse_unfit_logins
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.roles import TENANT_SETTING, DatabaseRole, Login
from headrace.tools.dev import PostgresServer

pytestmark = pytest.mark.servers

PASSWORD = "throwaway"


@pytest.fixture
async def login(admin_connection: asyncpg.Connection) -> AsyncIterator[str]:
    """A login of the test's own, which may connect and nothing else."""
    name = "test_unfit_login"
    await admin_connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    await admin_connection.execute(f'GRANT CONNECT ON DATABASE "{await _database(admin_connection)}" TO {name}')
    yield name
    await admin_connection.execute(f"DROP OWNED BY {name}")
    await admin_connection.execute(f"DROP ROLE {name}")


async def _database(connection: asyncpg.Connection) -> str:
    return str(await connection.fetchval("SELECT current_database()"))


async def refusal(options: DatabaseOptions, login: Login, user: str, password: str = PASSWORD) -> str:
    """The sentence with which a process refuses another user as a login."""
    changed = {(role, login): options.urls[role, login].set(username=user, password=password) for role in DatabaseRole}
    database = Database(replace(options, urls=options.urls | changed))
    try:
        with pytest.raises(LoginUnfit) as raised:
            await refuse_unfit_logins(database)
    finally:
        await database.close()
    return str(raised.value)


async def test_a_process_starts_with_the_logins_that_are_made_for_it(database: Database) -> None:
    await refuse_unfit_database(database)


@pytest.mark.parametrize("login", [Login.RUNTIME, Login.SYSTEM])
async def test_a_superuser_is_refused(
    database_options: DatabaseOptions, postgres_server: PostgresServer, login: Login
) -> None:
    said = await refusal(database_options, login, "postgres", postgres_server.password)
    assert said == f"database_{login}_user: expected a login that policies hold for, postgres is a superuser"


async def test_a_login_that_bypasses_policies_is_refused(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection, login: str
) -> None:
    await admin_connection.execute(f"ALTER ROLE {login} BYPASSRLS")
    assert "bypasses row-level security" in await refusal(database_options, Login.RUNTIME, login)


async def test_the_owner_is_refused(database_options: DatabaseOptions) -> None:
    owner = database_options.urls[DatabaseRole.CORE, Login.MIGRATION]
    said = await refusal(database_options, Login.SYSTEM, str(owner.username), str(owner.password))
    assert "headrace_migration owns tables of schema core" in said


async def test_a_member_of_the_owner_is_refused(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection, login: str
) -> None:
    await admin_connection.execute(f"GRANT headrace_migration TO {login}")
    assert "owns tables of schema core" in await refusal(database_options, Login.RUNTIME, login)


async def test_a_runtime_login_that_may_become_the_system_login_is_refused(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection, login: str
) -> None:
    await admin_connection.execute(f"GRANT headrace_system TO {login}")
    assert "is a member of headrace_system" in await refusal(database_options, Login.RUNTIME, login)


async def test_nothing_is_known_when_the_server_is_not_there(database_options: DatabaseOptions) -> None:
    urls = {key: url.set(port=1) for key, url in database_options.urls.items()}
    with pytest.raises(Unavailable):
        await refuse_unfit_database(Database(replace(database_options, urls=urls)))


async def test_a_system_login_without_a_setting_of_its_own_carries_the_system_scope(
    database_options: DatabaseOptions, admin_connection: asyncpg.Connection, login: str
) -> None:
    await admin_connection.execute(f"GRANT headrace_system TO {login}")
    known = {role: database_options.urls[role, Login.SYSTEM] for role in DatabaseRole}
    urls = {(role, Login.SYSTEM): url.set(username=login, password=PASSWORD) for role, url in known.items()}
    database = Database(replace(database_options, urls=database_options.urls | urls))
    stmt = DriverStatement("read_scope", DatabaseRole.QUEUE, f"SELECT current_setting('{TENANT_SETTING}', true)")
    try:
        async with database.driver_for(stmt, org_id=EMPTY_UUID) as connection:
            assert (await connection.fetch(stmt.sql))[0][0] == str(EMPTY_UUID)
    finally:
        await database.close()
