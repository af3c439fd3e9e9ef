"""What the engines take from the settings: a URL for each role and login, and the bounds of pools and statements."""

from dataclasses import dataclass
from datetime import timedelta

from pydantic import SecretStr
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.om.storage.roles import DatabaseRole, Login
from headrace.om.storage.settings import StorageSettings


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """What bounds the pools and statements of every engine."""

    pool_size: int
    control_pool_size: int
    pool_timeout: timedelta
    connection_max_age: timedelta
    connect_timeout: timedelta
    statement_timeout: timedelta
    lock_timeout: timedelta
    idle_in_transaction_timeout: timedelta


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """What `Database` needs: one URL for each role and login, the bounds, and how it gets there."""

    urls: dict[tuple[DatabaseRole, Login], URL]
    listen_url: URL
    limits: EngineLimits
    application_name: str
    transaction_pooler: bool


def database_options(settings: StorageSettings) -> DatabaseOptions:
    """Return the options that the settings describe.

    Raises:
        ConfigurationInvalid: A URL cannot be read; the sentence names the setting, never the URL.
    """
    urls = {
        (role, login): url
        for role in DatabaseRole
        for login in Login
        if (url := _login_url(settings, _role_url(settings, role), login)) is not None
    }
    listen = settings.database_listen_url
    direct = _role_url(settings, DatabaseRole.QUEUE) if listen is None else _read_url("database_listen_url", listen)
    return DatabaseOptions(
        urls=urls,
        listen_url=_with_login(direct, settings.database_runtime_user, settings.database_runtime_password),
        limits=_limits(settings),
        application_name=f"headrace/{settings.service}",
        transaction_pooler=settings.database_transaction_pooler,
    )


def _limits(settings: StorageSettings) -> EngineLimits:
    return EngineLimits(
        pool_size=settings.database_pool_size,
        control_pool_size=settings.database_control_pool_size,
        pool_timeout=settings.database_pool_timeout,
        connection_max_age=settings.database_connection_max_age,
        connect_timeout=settings.database_connect_timeout,
        statement_timeout=settings.database_statement_timeout,
        lock_timeout=settings.database_lock_timeout,
        idle_in_transaction_timeout=settings.database_idle_in_transaction_timeout,
    )


def _role_url(settings: StorageSettings, role: DatabaseRole) -> URL:
    name = f"database_{role}_url"
    own: SecretStr | None = getattr(settings, name)
    return _read_url("database_url", settings.database_url) if own is None else _read_url(name, own)


def _read_url(name: str, secret: SecretStr) -> URL:
    try:
        url = make_url(secret.get_secret_value())
    except (ArgumentError, ValueError) as error:
        raise ConfigurationInvalid(f"{name}: expected postgresql://HOST:PORT/NAME") from error
    if url.get_backend_name() not in {"postgresql", "postgres"} or not url.database:
        raise ConfigurationInvalid(f"{name}: expected postgresql://HOST:PORT/NAME with a database name")
    return url.set(drivername="postgresql+asyncpg")


def _login_url(settings: StorageSettings, url: URL, login: Login) -> URL | None:
    password: SecretStr | None = getattr(settings, f"database_{login}_password")
    if password is None:
        return None
    return _with_login(url, getattr(settings, f"database_{login}_user"), password)


def _with_login(url: URL, user: str, password: SecretStr) -> URL:
    return url.set(username=user, password=password.get_secret_value())
