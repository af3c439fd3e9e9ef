"""What needs no server of the funnel: which role a statement has, what an error means, what settings say."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest
from sqlalchemy import Executable, delete, exists, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as CheckoutTimeout

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.om.base import new_id
from headrace.om.events.storage.tables.events import EventRow
from headrace.om.exceptions import Conflict, PlatformException, PreconditionFailed, Unavailable, ValidationFailed
from headrace.om.outbox.storage.tables.outbox_rows import OutboxRowTable
from headrace.om.storage.database import Database, retried, role_of
from headrace.om.storage.errors import translated
from headrace.om.storage.options import database_options
from headrace.om.storage.roles import LOGIN_NAMES, TABLE_ROLES, TABLE_SCOPES, DatabaseRole, Login
from headrace.om.storage.settings import StorageSettings
from headrace.om.tenancy.storage.tables.orgs import OrgRow

SECRETS = {"database_runtime_password": "p@ss/w:rd", "database_system_password": "s"}
URL = "postgresql://db.test:5433/app"


def settings(**changes: object) -> StorageSettings:
    return StorageSettings.model_validate({"service": "tests", "database_url": URL} | SECRETS | changes)


@pytest.mark.parametrize(
    "statement",
    [
        select(OutboxRowTable.id),
        select(OutboxRowTable),
        update(OutboxRowTable).values(last_error=None),
        delete(OutboxRowTable),
        insert(OutboxRowTable).values(kind="a"),
        select(exists().where(OutboxRowTable.id == OrgRow.id)),
        select(select(OutboxRowTable.id).subquery()),
        delete(OrgRow).where(OrgRow.id.in_(select(OutboxRowTable.org_id))),
    ],
)
def test_the_role_is_that_of_the_tables(statement: Executable) -> None:
    assert role_of(statement) is DatabaseRole.CORE


@pytest.mark.parametrize(
    "statement",
    [text("SELECT 1"), select(OutboxRowTable.id, EventRow.id), select(1).where(EventRow.id == OrgRow.id)],
)
def test_a_statement_of_no_role_or_of_two_is_refused(statement: Executable) -> None:
    with pytest.raises(ValueError, match="exactly one database role"):
        role_of(statement)


class _DriverError(Exception):
    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("the driver's words")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("08006", Unavailable),
        ("40001", Unavailable),
        ("40P01", Unavailable),
        ("53300", Unavailable),
        ("55P03", Unavailable),
        ("57014", Unavailable),
        ("57P01", Unavailable),
        ("58030", Unavailable),
        ("25006", Unavailable),
        ("25P03", Unavailable),
        ("26000", Unavailable),
        ("0A000", Unavailable),
        ("22021", ValidationFailed),
        ("22P05", ValidationFailed),
        ("23505", Conflict),
        ("23503", Conflict),
        ("42501", None),
        ("42P01", None),
        (None, None),
    ],
)
def test_what_a_state_means(state: str | None, expected: type[PlatformException] | None) -> None:
    meant = translated(DBAPIError("SELECT 1", None, _DriverError(state)))
    assert (None if meant is None else type(meant)) is expected


@pytest.mark.parametrize(
    "error",
    [
        CheckoutTimeout(),
        OSError("refused"),
        ConnectionResetError(),
        TimeoutError(),
        asyncio.IncompleteReadError(b"", 1),
        asyncpg.InterfaceError("closed"),
        asyncpg.ConnectionDoesNotExistError("gone"),
        DBAPIError("SELECT 1", None, _DriverError(None), connection_invalidated=True),
    ],
)
def test_a_lost_connection_may_come_back(error: BaseException) -> None:
    meant = translated(error)
    assert isinstance(meant, Unavailable)
    assert meant.retryable


@pytest.mark.parametrize(
    "error", [KeyError("k"), ValueError("v"), asyncio.CancelledError(), ValidationFailed("a", "b")]
)
def test_what_is_no_database_error_stays_what_it_is(error: BaseException) -> None:
    assert translated(error) is None


def test_a_translated_error_keeps_values_to_itself() -> None:
    meant = translated(DBAPIError("SELECT :secret", {"secret": "hunter2"}, _DriverError("22001")))
    assert "hunter2" not in str(meant)


def test_every_role_and_login_has_the_shared_url_with_its_own_credentials() -> None:
    urls = database_options(settings(database_migration_password="m")).urls
    assert set(urls) == {(role, login) for role in DatabaseRole for login in Login}
    for (_, login), url in urls.items():
        assert (url.host, url.port, url.database, url.username) == ("db.test", 5433, "app", LOGIN_NAMES[login])
    assert urls[DatabaseRole.CORE, Login.RUNTIME].password == "p@ss/w:rd"


def test_a_role_has_its_own_url_when_one_is_set() -> None:
    urls = database_options(settings(database_queue_url="postgres://queue.test/q")).urls
    assert urls[DatabaseRole.QUEUE, Login.SYSTEM].host == "queue.test"
    assert urls[DatabaseRole.CORE, Login.SYSTEM].host == "db.test"


def test_there_is_no_migration_login_when_it_has_no_password() -> None:
    assert Login.MIGRATION not in {login for _, login in database_options(settings()).urls}


def test_listening_takes_the_queues_url_or_its_own() -> None:
    assert database_options(settings(database_queue_url="postgresql://queue.test/q")).listen_url.host == "queue.test"
    direct = database_options(settings(database_listen_url="postgresql://direct.test/q")).listen_url
    assert (direct.host, direct.username) == ("direct.test", LOGIN_NAMES[Login.RUNTIME])


@pytest.mark.parametrize("url", ["", "no url", "mysql://db.test/app", "postgresql://db.test", "postgresql://db:port/x"])
def test_a_url_that_cannot_be_read_is_refused_by_its_settings_name(url: str) -> None:
    with pytest.raises(ConfigurationInvalid, match=r"^database_core_url: expected postgresql://") as raised:
        database_options(settings(database_core_url=url))
    assert not url or url not in str(raised.value)


def test_durations_become_bounds() -> None:
    limits = database_options(settings(database_lock_timeout=timedelta(seconds=2))).limits
    assert limits.lock_timeout == timedelta(seconds=2)


def test_nothing_is_opened_by_construction_and_no_password_is_shown() -> None:
    shown = Database(database_options(settings(database_queue_url="postgresql://u:secret@queue.test/q"))).describe()
    assert shown == "postgres postgresql://db.test:5433/app, postgresql://queue.test/q"


def test_every_table_has_a_role_and_a_scope() -> None:
    assert set(TABLE_ROLES) == set(TABLE_SCOPES)


async def test_the_last_refusal_is_raised_when_every_try_was_refused() -> None:
    tries: list[int] = []

    async def refused() -> None:
        tries.append(len(tries))
        raise Unavailable(f"number {len(tries)}")

    with pytest.raises(Unavailable, match="number 3"):
        await retried(refused)


async def test_the_sentence_names_the_setting_when_the_login_has_no_password() -> None:
    database = Database(replace(database_options(settings()), urls={}))
    with pytest.raises(PreconditionFailed, match="database_runtime_password"):
        async with database.session_for(DatabaseRole.CORE, org_id=new_id()):
            raise AssertionError("a session without a login")
