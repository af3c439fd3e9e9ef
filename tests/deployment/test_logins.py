"""`deployment/logins.sql` as an administrator of a managed server runs it: somebody who is not superuser."""

import asyncio
import os

import asyncpg
import pytest

from headrace.om.storage.database import Database
from headrace.om.storage.guards import refuse_unfit_database
from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.om.storage.settings import StorageSettings
from headrace.tools.dev import PostgresServer
from tests.deployment.repository import DEPLOYMENT, run
from tests.fixtures.servers import StartPostgres

pytestmark = pytest.mark.servers

PASSWORDS = {
    "HEADRACE_DATABASE_MIGRATION_PASSWORD": "it's one",
    "HEADRACE_DATABASE_RUNTIME_PASSWORD": 'and "two"',
    "HEADRACE_DATABASE_SYSTEM_PASSWORD": "three$$",
}


@pytest.fixture
def managed(start_postgres: StartPostgres) -> PostgresServer:
    """A server whose administrator may create roles and owns the database, and is not superuser."""
    server = start_postgres()
    server.execute("CREATE ROLE master LOGIN CREATEROLE CREATEDB PASSWORD 'master'")
    server.execute("CREATE DATABASE headrace OWNER master")
    return server


def logins(server: PostgresServer, passwords: dict[str, str]) -> str:
    """Run the file; return what it said, empty when all went well."""
    url = server.dsn("headrace", user="master", password="master")
    psql = server.binaries.folder / "psql"
    argv = (psql, "--no-psqlrc", "--quiet", f"--file={DEPLOYMENT / 'logins.sql'}", url)
    done = run(*argv, environment={"PATH": os.defpath, **passwords})
    assert bool(done.returncode) == bool(done.stderr)
    return done.stderr


def settings(server: PostgresServer, passwords: dict[str, str]) -> StorageSettings:
    told = {name.removeprefix("HEADRACE_").lower(): value for name, value in passwords.items()}
    return StorageSettings.model_validate(
        {**told, "database_url": f"postgresql://{server.host}:{server.port}/headrace"}
    )


async def brought_up(server: PostgresServer, passwords: dict[str, str]) -> None:
    """Migrate, and have the guards look at the logins as every process does when it starts."""
    options = database_options(settings(server, passwords))
    await migrate(options)
    database = Database(options)
    try:
        await refuse_unfit_database(database)
    finally:
        await database.close()


def test_a_process_starts_with_the_logins_that_an_ordinary_administrator_makes(managed: PostgresServer) -> None:
    assert logins(managed, PASSWORDS) == ""
    asyncio.run(brought_up(managed, PASSWORDS))


def test_running_it_again_changes_the_passwords(managed: PostgresServer) -> None:
    changed = {**PASSWORDS, "HEADRACE_DATABASE_RUNTIME_PASSWORD": "four"}
    assert logins(managed, PASSWORDS) == logins(managed, changed) == ""
    asyncio.run(brought_up(managed, changed))
    with pytest.raises(asyncpg.InvalidPasswordError):
        asyncio.run(connected(managed, PASSWORDS["HEADRACE_DATABASE_RUNTIME_PASSWORD"]))


async def connected(server: PostgresServer, password: str) -> None:
    connection = await asyncpg.connect(server.dsn("headrace", user="headrace_runtime", password=password))
    await connection.close()


def test_nothing_is_made_when_a_password_is_missing(managed: PostgresServer) -> None:
    assert "system_password" in logins(
        managed, {name: value for name, value in PASSWORDS.items() if "SYSTEM" not in name}
    )
    with pytest.raises(asyncpg.InvalidPasswordError):
        asyncio.run(connected(managed, PASSWORDS["HEADRACE_DATABASE_RUNTIME_PASSWORD"]))


def test_a_login_that_passes_policies_by_is_refused(managed: PostgresServer) -> None:
    managed.execute("CREATE ROLE headrace_system LOGIN BYPASSRLS")
    assert logins(managed, PASSWORDS) != ""
