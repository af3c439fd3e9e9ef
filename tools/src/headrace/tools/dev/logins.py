"""The three logins that keep organisations apart in the database, and the settings that name them to a process."""

import asyncio
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import quote, unquote, urlsplit

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.storage.roles import LOGIN_NAMES, TENANT_SETTING, Login
from headrace.tools.dev.exceptions import DevServerError, reason_of

CONNECT_TIMEOUT = timedelta(seconds=10)
# Roles belong to the whole server, while a lock holds within one database only: others may interfere, a few times.
ATTEMPTS = 10
RETRY_PAUSE = timedelta(milliseconds=50)
LOCK_KEY = 0x68656164  # any constant; taken by this module alone


@dataclass(frozen=True, slots=True)
class LoginUrls:
    """A database and the three logins to it.

    Attributes:
        server_url: The database without any login, `postgresql://host:port/name`.
        passwords: The password of each login.
    """

    server_url: str
    passwords: Mapping[Login, str] = field(repr=False)

    def url(self, login: Login) -> str:
        """Returns the database's URL for a login."""
        parts = urlsplit(self.server_url)
        secret = quote(self.passwords[login], safe="")
        return parts._replace(netloc=f"{LOGIN_NAMES[login]}:{secret}@{parts.netloc}").geturl()

    @property
    def migration(self) -> str:
        """The URL for the login that owns the schemas."""
        return self.url(Login.MIGRATION)

    @property
    def runtime(self) -> str:
        """The URL for the login that sees one organisation at a time."""
        return self.url(Login.RUNTIME)

    @property
    def system(self) -> str:
        """The URL for the login of statements across organisations."""
        return self.url(Login.SYSTEM)

    def environment(self) -> dict[str, str]:
        """Returns the settings that a process of the platform reads, as environment variables."""
        variables = {"HEADRACE_DATABASE_URL": self.server_url, "HEADRACE_DATABASE_LISTEN_URL": self.runtime}
        for login in Login:
            variables[f"HEADRACE_DATABASE_{login.upper()}_USER"] = LOGIN_NAMES[login]
            variables[f"HEADRACE_DATABASE_{login.upper()}_PASSWORD"] = self.passwords[login]
        return variables


def login_urls(admin_dsn: str, passwords: Mapping[Login, str] | None = None) -> LoginUrls:
    """Returns the logins of a database without touching it.

    Args:
        admin_dsn: The administrator's URL of the database. Its user and password decide the passwords of the three
            logins, so that every process which knows the administrator finds the same ones.
        passwords: Passwords to use instead, for all three.
    """
    parts = urlsplit(admin_dsn)
    key = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
    derived = {login: hmac.new(key, LOGIN_NAMES[login].encode(), hashlib.sha256).hexdigest()[:40] for login in Login}
    server = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return LoginUrls(server_url=server, passwords=passwords or derived)


async def create_logins(admin_dsn: str, *, passwords: Mapping[Login, str] | None = None) -> LoginUrls:
    """Creates the three logins, or sets them right when they exist, and opens the database to them alone.

    Afterwards none is superuser or passes row security by; only the migration login may create schemas; the system
    login carries the system scope. Safe to call again, and from several processes at once. All or nothing.

    Args:
        admin_dsn: URL of the database, for a login that may create roles (and that owns the database, or is superuser).
        passwords: See `login_urls`.

    Returns:
        The logins.

    Raises:
        DevServerError: The server does not answer, or the administrator may not do this. Nothing was changed.
    """
    urls = login_urls(admin_dsn, passwords)
    connection = await connect(admin_dsn)
    try:
        await _prepare_repeatedly(connection, urls)
    except asyncpg.InsufficientPrivilegeError as error:
        raise DevServerError(
            f"The login {_user(admin_dsn)!r} of the given database URL lacks the right to create the logins "
            f"({error.message}); give a superuser's URL."
        ) from error
    finally:
        connection.terminate()
    return urls


async def connect(dsn: str, *, setting: str = "the given database URL") -> asyncpg.Connection:
    """Opens a connection, or says in one sentence why there is none.

    Args:
        dsn: Where to.
        setting: What the person at the terminal knows the URL as.

    Raises:
        DevServerError: The server does not answer within 10 seconds, or refuses.
    """
    where = urlsplit(dsn).netloc.rpartition("@")[2]
    try:
        return await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT.total_seconds(), command_timeout=60)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DevServerError(f"PostgreSQL at {where} ({setting}) cannot be used: {reason_of(error)}.") from error


def _user(dsn: str) -> str:
    return unquote(urlsplit(dsn).username or "")


async def _prepare_repeatedly(connection: asyncpg.Connection, urls: LoginUrls) -> None:
    for _ in range(ATTEMPTS - 1):
        try:
            return await _prepare(connection, urls)
        except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError, asyncpg.InternalServerError):
            await asyncio.sleep(RETRY_PAUSE.total_seconds())
    return await _prepare(connection, urls)


async def _prepare(connection: asyncpg.Connection, urls: LoginUrls) -> None:
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK_KEY)
        for login, name in LOGIN_NAMES.items():
            await _set_role(connection, name, urls.passwords[login])
        await connection.execute(f"ALTER ROLE {LOGIN_NAMES[Login.SYSTEM]} SET {TENANT_SETTING} = '{EMPTY_UUID}'")
        await _open_database(connection)


async def _set_role(connection: asyncpg.Connection, name: str, password: str) -> None:
    exists = await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", name)
    verb = "ALTER" if exists else "CREATE"
    literal = await connection.fetchval("SELECT quote_literal($1::text)", password)
    await connection.execute(
        f"{verb} ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD {literal}"
    )


async def _open_database(connection: asyncpg.Connection) -> None:
    database = await connection.fetchval("SELECT quote_ident(current_database())")
    await connection.execute(f"REVOKE ALL ON DATABASE {database} FROM PUBLIC")
    await connection.execute(f"GRANT CONNECT ON DATABASE {database} TO {', '.join(LOGIN_NAMES.values())}")
    await connection.execute(f"GRANT CREATE ON DATABASE {database} TO {LOGIN_NAMES[Login.MIGRATION]}")
    # A grant by somebody who may not grant is only warned about.
    granted = await connection.fetchval(
        "SELECT has_database_privilege($1, current_database(), 'CREATE')", LOGIN_NAMES[Login.MIGRATION]
    )
    if not granted:
        raise DevServerError(
            f"The administrator of the given database URL does not own the database {database}, "
            "so it cannot open it to the logins; give the owner's or a superuser's URL."
        )
