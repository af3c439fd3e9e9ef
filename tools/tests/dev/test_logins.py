import asyncio
from uuid import uuid4

import asyncpg
import pytest

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.roles import LOGIN_NAMES, Login
from headrace.tools.dev import DevServerError, LoginUrls, PostgresServer, create_logins, login_urls

ADMIN = "postgresql://admin:p%40ss@db.example:5433/main?sslmode=require"


def test_the_server_url_has_no_login_when_derived() -> None:
    assert login_urls(ADMIN).server_url == "postgresql://db.example:5433/main?sslmode=require"


def test_each_login_has_a_password_of_its_own_when_derived() -> None:
    assert len(set(login_urls(ADMIN).passwords.values())) == len(Login)


def test_the_passwords_are_the_same_when_derived_for_another_database_of_the_administrator() -> None:
    assert login_urls(ADMIN).passwords == login_urls(ADMIN.replace("main", "other")).passwords


def test_the_passwords_differ_when_the_administrator_has_another_password() -> None:
    assert login_urls(ADMIN).passwords != login_urls(ADMIN.replace("p%40ss", "other")).passwords


def test_a_password_is_escaped_when_it_has_signs_of_a_url() -> None:
    urls = login_urls(ADMIN, dict.fromkeys(Login, "a/b@c"))
    assert urls.runtime == "postgresql://headrace_runtime:a%2Fb%40c@db.example:5433/main?sslmode=require"


def test_passwords_are_not_shown_when_the_logins_are_printed() -> None:
    urls = login_urls(ADMIN)
    assert urls.passwords[Login.SYSTEM] not in repr(urls)


def test_every_setting_of_a_process_is_there_when_asked_for_the_environment() -> None:
    urls = login_urls(ADMIN)
    assert urls.environment() == {
        "HEADRACE_DATABASE_URL": urls.server_url,
        "HEADRACE_DATABASE_LISTEN_URL": urls.runtime,
        "HEADRACE_DATABASE_MIGRATION_USER": "headrace_migration",
        "HEADRACE_DATABASE_MIGRATION_PASSWORD": urls.passwords[Login.MIGRATION],
        "HEADRACE_DATABASE_RUNTIME_USER": "headrace_runtime",
        "HEADRACE_DATABASE_RUNTIME_PASSWORD": urls.passwords[Login.RUNTIME],
        "HEADRACE_DATABASE_SYSTEM_USER": "headrace_system",
        "HEADRACE_DATABASE_SYSTEM_PASSWORD": urls.passwords[Login.SYSTEM],
    }


@pytest.fixture
def admin_dsn(postgres_server: PostgresServer) -> str:
    """The administrator's URL of a database of the test's own."""
    return postgres_server.create_database(f"logins_{uuid4().hex}")


@pytest.fixture
async def urls(admin_dsn: str) -> LoginUrls:
    """Logins to that database."""
    return await create_logins(admin_dsn)


async def ask(dsn: str, statement: str) -> object:
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@pytest.mark.servers
async def test_no_login_has_any_power_over_the_server_when_created(admin_dsn: str, urls: LoginUrls) -> None:
    powerless = """SELECT count(*) FROM pg_roles WHERE rolname LIKE 'headrace_%'
        AND NOT (rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole OR rolreplication)"""
    assert await ask(admin_dsn, powerless) == len(urls.passwords)


@pytest.mark.servers
@pytest.mark.parametrize("login", list(Login))
async def test_a_login_reaches_the_database_when_created(urls: LoginUrls, login: Login) -> None:
    assert await ask(urls.url(login), "SELECT current_user::text") == LOGIN_NAMES[login]


@pytest.mark.servers
async def test_the_migration_login_alone_may_create_schemas_when_created(urls: LoginUrls) -> None:
    await ask(urls.migration, "CREATE SCHEMA core")
    for login in (Login.RUNTIME, Login.SYSTEM):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await ask(urls.url(login), "CREATE SCHEMA other")


@pytest.mark.servers
async def test_the_system_login_alone_carries_the_system_scope_when_created(urls: LoginUrls) -> None:
    scope = "SELECT current_setting('app.org_id', true)"
    assert await ask(urls.system, scope) == str(EMPTY_UUID)
    assert await ask(urls.runtime, scope) in {None, ""}


@pytest.mark.servers
async def test_other_roles_are_kept_out_when_the_logins_are_created(
    postgres_server: PostgresServer, admin_dsn: str, urls: LoginUrls
) -> None:
    stranger = f"stranger_{uuid4().hex}"
    await ask(admin_dsn, f"CREATE ROLE {stranger} LOGIN PASSWORD 'p'")
    assert urls.server_url.endswith(admin_dsn.rpartition("/")[2])
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await ask(postgres_server.dsn(admin_dsn.rpartition("/")[2], user=stranger, password="p"), "SELECT 1")


@pytest.mark.servers
async def test_all_succeed_when_many_create_the_logins_of_several_databases_at_once(
    postgres_server: PostgresServer,
) -> None:
    names = [f"logins_{uuid4().hex}" for _ in range(3)]
    dsns = [await asyncio.to_thread(postgres_server.create_database, name) for name in names]
    made = await asyncio.gather(*(create_logins(dsn) for dsn in dsns * 4))
    for urls in made:
        assert await ask(urls.runtime, "SELECT 1") == 1


@pytest.mark.servers
async def test_a_login_loses_power_that_it_was_given_when_created_again(admin_dsn: str, urls: LoginUrls) -> None:
    await ask(admin_dsn, "ALTER ROLE headrace_runtime CREATEDB")
    await create_logins(admin_dsn)
    assert await ask(urls.runtime, "SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user") is False


@pytest.mark.servers
async def test_one_sentence_says_so_when_the_administrator_may_not_create_roles(urls: LoginUrls) -> None:
    with pytest.raises(DevServerError, match="'headrace_runtime' of the given database URL lacks the right"):
        await create_logins(urls.runtime)


async def test_one_sentence_says_so_when_no_server_answers(unused_port: int) -> None:
    with pytest.raises(DevServerError, match=rf"127\.0\.0\.1:{unused_port} .* cannot be used: connection refused\.$"):
        await create_logins(f"postgresql://admin:secret@127.0.0.1:{unused_port}/main")
