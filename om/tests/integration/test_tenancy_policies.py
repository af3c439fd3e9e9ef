"""The second fence of a migrated database: logins, ownership, policies, and what each login sees."""

from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.storage.roles import LOGIN_NAMES, TABLE_ROLES, TABLE_SCOPES, DatabaseRole, Login, TenancyScope
from headrace.tools.dev import LoginUrls
from om.tests.integration.tenancy_seeds import ORG_A, ORG_B, SEEDS, qualified, seed_every_table
from tests.fixtures.database import empty_tables

pytestmark = pytest.mark.servers

type Connect = Callable[[Login], Awaitable[asyncpg.Connection]]

TABLES = sorted(TABLE_ROLES)
SCHEMAS = [str(role) for role in DatabaseRole]
SETTING = "current_setting('app.org_id'::text, true)"
SYSTEM_ONLY = f"((NULLIF({SETTING}, ''::text))::uuid = '{EMPTY_UUID}'::uuid)"
ONE_TENANT = f"(NULLIF({SETTING}, ''::text))::uuid"
ONE_TENANT_NEVER_THE_PLATFORM = f"(NULLIF(NULLIF({SETTING}, ''::text), '{EMPTY_UUID}'::text))::uuid"


@pytest.fixture
async def seeded(admin_connection: asyncpg.Connection) -> asyncpg.Connection:
    await empty_tables(admin_connection)
    await seed_every_table(admin_connection)
    return admin_connection


@pytest.fixture
async def connect(module_login_urls: LoginUrls) -> AsyncIterator[Connect]:
    opened: list[asyncpg.Connection] = []

    async def connect(login: Login) -> asyncpg.Connection:
        connection = await asyncpg.connect(module_login_urls.url(Login(login)), timeout=10, command_timeout=20)
        opened.append(connection)
        return connection

    yield connect
    for connection in opened:
        await connection.close()


async def name_tenant(connection: asyncpg.Connection, org_id: UUID | None) -> None:
    await connection.execute("SELECT set_config('app.org_id', $1, false)", "" if org_id is None else str(org_id))


async def num_seen(connection: asyncpg.Connection, table: str) -> int:
    count: int = await connection.fetchval(f"SELECT count(*) FROM {qualified(table)}")  # noqa: S608 - a table of the map
    return count


@pytest.mark.parametrize("login", list(Login))
async def test_a_live_connection_is_neither_superuser_nor_exempt_from_policies(connect: Connect, login: Login) -> None:
    row = await (await connect(login)).fetchrow(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
    )
    assert tuple(row) == (LOGIN_NAMES[login], False, False, False, False)


@pytest.mark.parametrize("login", [Login.RUNTIME, Login.SYSTEM])
async def test_the_logins_of_processes_own_nothing_and_may_make_nothing(connect: Connect, login: Login) -> None:
    connection = await connect(login)
    owned = await connection.fetchval(
        "SELECT count(*) FROM pg_shdepend WHERE refobjid = current_user::regrole AND deptype = 'o'"
    )
    rights = await connection.fetch(
        "SELECT has_schema_privilege(nspname, 'CREATE') AS granted FROM pg_namespace WHERE nspname = ANY($1)", SCHEMAS
    )
    assert owned == 0
    assert [row["granted"] for row in rights] == [False] * len(SCHEMAS)
    assert not await connection.fetchval("SELECT has_database_privilege(current_database(), 'CREATE')")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute("ALTER TABLE core.outbox_rows DISABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize("login", [Login.RUNTIME, Login.SYSTEM])
async def test_the_logins_of_processes_cannot_become_another(connect: Connect, login: Login) -> None:
    connection = await connect(login)
    for other in set(Login) - {login}:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(f"SET ROLE {LOGIN_NAMES[other]}")


async def test_the_database_has_the_tables_of_the_role_map_and_no_others(admin_connection: asyncpg.Connection) -> None:
    rows = await admin_connection.fetch(
        "SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
        " WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname NOT IN ('pg_catalog', 'information_schema')"
        " AND nspname NOT LIKE 'pg_toast%' AND relname <> 'alembic_version'"
    )
    assert {row["relname"]: row["nspname"] for row in rows} == {name: str(role) for name, role in TABLE_ROLES.items()}


def test_every_table_has_a_scope_and_a_seed() -> None:
    assert set(TABLE_SCOPES) == set(TABLE_ROLES) == set(SEEDS)


async def test_the_database_runs_no_code_of_its_own(admin_connection: asyncpg.Connection) -> None:
    num_triggers = await admin_connection.fetchval("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal")
    num_functions = await admin_connection.fetchval(
        "SELECT count(*) FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace WHERE nspname = ANY($1)",
        [*SCHEMAS, "public"],
    )
    assert (num_triggers, num_functions) == (0, 0)


@pytest.mark.parametrize("table", TABLES)
async def test_policies_are_on_and_hold_for_the_owner_too(admin_connection: asyncpg.Connection, table: str) -> None:
    row = await admin_connection.fetchrow(
        "SELECT relrowsecurity, relforcerowsecurity, pg_get_userbyid(relowner) AS owner FROM pg_class"
        " WHERE oid = $1::text::regclass",
        qualified(table),
    )
    assert tuple(row) == (True, True, LOGIN_NAMES[Login.MIGRATION])


@pytest.mark.parametrize("table", TABLES)
async def test_the_policies_are_those_of_the_scope_map(admin_connection: asyncpg.Connection, table: str) -> None:
    rows = await admin_connection.fetch(
        "SELECT policyname, permissive, roles, cmd, qual, with_check FROM pg_policies"
        " WHERE schemaname = $1 AND tablename = $2",
        str(TABLE_ROLES[table]),
        table,
    )
    policies = {row["policyname"]: row for row in rows}
    scope = TABLE_SCOPES[table]
    expected = {"system"} if scope is TenancyScope.SYSTEM else {"runtime", "system"}
    assert set(policies) == {f"{table}_{login}" for login in expected}
    for name, policy in policies.items():
        assert policy["roles"] == [f"headrace_{name.removeprefix(f'{table}_')}"]
        assert (policy["permissive"], policy["cmd"]) == ("PERMISSIVE", "ALL")
        assert policy["with_check"] == policy["qual"]
    assert policies[f"{table}_system"]["qual"] == SYSTEM_ONLY
    if scope is not TenancyScope.SYSTEM:
        assert_names_the_tenant(policies[f"{table}_runtime"]["qual"], scope)


def assert_names_the_tenant(condition: str, scope: TenancyScope) -> None:
    """An unset tenant is folded to NULL, and so is the platform where it may have rows."""
    if scope is TenancyScope.BOTH:
        assert condition == f"(org_id = {ONE_TENANT_NEVER_THE_PLATFORM})"
    elif scope is TenancyScope.ORG:
        assert condition in {f"(org_id = {ONE_TENANT})", f"(org_id = {ONE_TENANT_NEVER_THE_PLATFORM})"}
    else:
        assert ONE_TENANT in condition or ONE_TENANT_NEVER_THE_PLATFORM in condition


@pytest.mark.parametrize("table", TABLES)
async def test_the_two_logins_of_processes_have_the_same_rights_and_only_on_rows(
    admin_connection: asyncpg.Connection, table: str
) -> None:
    rows = await admin_connection.fetch(
        "SELECT grantee, privilege_type FROM information_schema.table_privileges"
        " WHERE table_schema = $1 AND table_name = $2 AND grantee <> $3",
        str(TABLE_ROLES[table]),
        table,
        LOGIN_NAMES[Login.MIGRATION],
    )
    rights: dict[str, set[str]] = {}
    for row in rows:
        rights.setdefault(row["grantee"], set()).add(row["privilege_type"])
    assert set(rights) == {LOGIN_NAMES[Login.RUNTIME], LOGIN_NAMES[Login.SYSTEM]}
    assert rights[LOGIN_NAMES[Login.RUNTIME]] == rights[LOGIN_NAMES[Login.SYSTEM]]
    assert {"SELECT", "INSERT"} <= rights[LOGIN_NAMES[Login.RUNTIME]] <= {"SELECT", "INSERT", "UPDATE", "DELETE"}


@pytest.mark.usefixtures("seeded")
async def test_the_runtime_login_sees_its_tenants_row_alone(connect: Connect) -> None:
    runtime = await connect(Login.RUNTIME)
    await name_tenant(runtime, ORG_A)
    expected = {table: 0 if TABLE_SCOPES[table] is TenancyScope.SYSTEM else 1 for table in TABLES}
    assert {table: await num_seen(runtime, table) for table in TABLES} == expected


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("login", [Login.RUNTIME, Login.SYSTEM])
async def test_nothing_is_seen_when_no_tenant_is_named(connect: Connect, login: Login) -> None:
    connection = await connect(login)
    await name_tenant(connection, None)
    assert {table: await num_seen(connection, table) for table in TABLES} == dict.fromkeys(TABLES, 0)


@pytest.mark.usefixtures("seeded")
async def test_nothing_is_seen_when_the_setting_was_never_made(connect: Connect) -> None:
    runtime = await connect(Login.RUNTIME)
    assert await runtime.fetchval("SELECT current_setting('app.org_id', true)") is None
    assert {table: await num_seen(runtime, table) for table in TABLES} == dict.fromkeys(TABLES, 0)


@pytest.mark.usefixtures("seeded")
async def test_the_runtime_login_sees_nothing_when_it_names_the_system_scope(connect: Connect) -> None:
    runtime = await connect(Login.RUNTIME)
    await name_tenant(runtime, EMPTY_UUID)
    assert {table: await num_seen(runtime, table) for table in TABLES} == dict.fromkeys(TABLES, 0)


@pytest.mark.usefixtures("seeded")
async def test_the_system_login_sees_nothing_when_it_names_a_tenant(connect: Connect) -> None:
    system = await connect(Login.SYSTEM)
    await name_tenant(system, ORG_A)
    assert {table: await num_seen(system, table) for table in TABLES} == dict.fromkeys(TABLES, 0)


async def test_the_system_login_sees_every_row_in_the_system_scope(
    connect: Connect, seeded: asyncpg.Connection
) -> None:
    system = await connect(Login.SYSTEM)
    seen = {table: await num_seen(system, table) for table in TABLES}
    assert seen == {table: await num_seen(seeded, table) for table in TABLES}
    assert min(seen.values()) >= 2


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("scope", [None, ORG_A, EMPTY_UUID])
async def test_the_owner_sees_nothing_whatever_it_names(connect: Connect, scope: UUID | None) -> None:
    owner = await connect(Login.MIGRATION)
    await name_tenant(owner, scope)
    assert {table: await num_seen(owner, table) for table in TABLES} == dict.fromkeys(TABLES, 0)


@pytest.mark.parametrize("table", TABLES)
async def test_another_tenants_row_cannot_be_removed_or_changed(
    connect: Connect, seeded: asyncpg.Connection, table: str
) -> None:
    runtime = await connect(Login.RUNTIME)
    await name_tenant(runtime, ORG_A)
    name, key = qualified(table), "id" if table in {"orgs", "users"} else "org_id"
    before = await seeded.fetch(f"SELECT * FROM {name} WHERE {key} = $1", ORG_B)  # noqa: S608 - a table of the map
    for verb in (f"DELETE FROM {name}", f"UPDATE {name} SET {key} = {key}"):  # noqa: S608 - likewise
        try:
            assert (await runtime.execute(f"{verb} WHERE {key} = $1", ORG_B)).endswith(" 0")
        except asyncpg.InsufficientPrivilegeError:
            assert table in {"audit_entries", "events"}, "only what is appended to is granted less"
    assert await seeded.fetch(f"SELECT * FROM {name} WHERE {key} = $1", ORG_B) == before  # noqa: S608 - likewise


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("table", [table for table in TABLES if TABLE_SCOPES[table] is not TenancyScope.IDENTITY])
@pytest.mark.parametrize("named", [None, ORG_A, EMPTY_UUID])
async def test_a_row_for_another_tenant_is_refused(connect: Connect, table: str, named: UUID | None) -> None:
    runtime = await connect(Login.RUNTIME)
    await name_tenant(runtime, named)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await runtime.execute(SEEDS[table], ORG_B, new_id())
