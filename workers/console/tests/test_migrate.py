import asyncio

import asyncpg
import pytest

from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.om.storage.roles import DatabaseRole
from headrace.tools.dev import LoginUrls, PostgresServer
from headrace.tools.dev.postgres import run_apart
from tests.fixtures.database import empty_database
from workers.console.tests.command_line import CommandLine

pytestmark = pytest.mark.servers


def fields_of(urls: LoginUrls) -> dict[str, object]:
    return {name.removeprefix("HEADRACE_").lower(): value for name, value in urls.environment().items()}


@pytest.fixture
def over_postgres(line: CommandLine, postgres_server: PostgresServer) -> CommandLine:
    """The command line with an empty database among its settings."""
    line.changes |= fields_of(empty_database(postgres_server))
    return line


def test_pending_revisions_are_named_and_nothing_is_changed_by_a_check(over_postgres: CommandLine) -> None:
    result = over_postgres.run("migrate", "--check")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "core      pending  -" in result.stdout
    assert over_postgres.run("migrate", "--check").stdout == result.stdout


def test_every_role_is_brought_up_to_date_and_again_without_a_change(over_postgres: CommandLine) -> None:
    roles = over_postgres.json("migrate")["roles"]
    assert [role["role"] for role in roles] == [str(role) for role in DatabaseRole]
    assert {(role["state"], len(role["pending"])) for role in roles} == {("current", 0)}
    assert over_postgres.json("migrate")["roles"] == roles
    assert over_postgres.json("migrate", "--check") == {"roles": roles, "differences": []}


def test_a_role_that_is_behind_names_only_what_is_pending(over_postgres: CommandLine) -> None:
    asyncio.run(migrate(database_options(over_postgres.settings()), role=DatabaseRole.QUEUE))
    result = over_postgres.run("migrate", "--check")
    states = dict(line.split()[:2] for line in result.stdout.splitlines()[1:])
    assert states == {"core": "pending", "activity": "pending", "queue": "current"}


def test_a_newer_schema_is_told_by_a_check_and_refused_by_a_run(
    over_postgres: CommandLine, postgres_server: PostgresServer
) -> None:
    over_postgres.json("migrate")
    name = str(over_postgres.changes["database_url"]).rpartition("/")[2]
    run_apart(
        lambda: _change(postgres_server.dsn(name), "UPDATE core.alembic_version SET version_num = '999901010000'")
    )
    assert "core      newer    999901010000" in over_postgres.run("migrate", "--check").stdout
    assert "999901010000" in over_postgres.refused("migrate")


def test_a_schema_that_differs_from_the_code_is_told_by_a_check(
    over_postgres: CommandLine, postgres_server: PostgresServer
) -> None:
    over_postgres.json("migrate")
    name = str(over_postgres.changes["database_url"]).rpartition("/")[2]
    run_apart(lambda: _change(postgres_server.dsn(name), "ALTER TABLE core.orgs ADD COLUMN stray integer"))
    result = over_postgres.run("migrate", "--check")
    assert (result.exit_code, "stray" in result.stdout) == (1, True)


def test_an_unreachable_database_ends_with_3(line: CommandLine) -> None:
    line.changes["database_migration_password"] = "x"
    assert line.refused("migrate", exit_code=3).startswith("unavailable: ")
    assert line.refused("migrate", "--check", exit_code=3).startswith("unavailable: ")


def test_a_missing_migration_login_is_told(line: CommandLine) -> None:
    assert "migration" in line.refused("migrate")


async def _change(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
