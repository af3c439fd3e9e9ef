"""Work that rides in the caller's own transaction: enqueued at its commit, at once, or never."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

from headrace.infra.topics import TopicPayload, Topics
from headrace.infra.topics.impl.postgres import TopicsPostgresImpl
from headrace.om.base import new_id
from headrace.om.exceptions import PreconditionFailed, ValidationFailed
from headrace.om.outbox.add_work import add_work
from headrace.om.outbox.rows import work_row
from headrace.om.outbox.storage.impl.postgres import OutboxStoragePostgresImpl
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.database import Database
from headrace.om.work.types.kinds import WorkKind
from headrace.tools.dev import LoginUrls
from infra.tests.contracts.eventually import eventually
from om.tests.contracts.outbox_storage import HOLD

pytestmark = pytest.mark.servers

TENANT = "SELECT current_setting('app.org_id', true)"


@dataclass(frozen=True)
class Scope:
    org_id: UUID
    user_id: UUID
    request_id: UUID
    traceparent: str | None = None


@pytest.fixture
def scope() -> Scope:
    return Scope(new_id(), new_id(), new_id())


@pytest.fixture
def storage(database: Database) -> OutboxStoragePostgresImpl:
    return OutboxStoragePostgresImpl(database)


@pytest.fixture
async def connection(module_login_urls: LoginUrls) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(module_login_urls.runtime, timeout=10, command_timeout=20)
    yield opened
    await opened.close()


@pytest.fixture
async def woken(module_login_urls: LoginUrls) -> AsyncIterator[list[TopicPayload]]:
    """What a relay hears that listens on this database."""
    topics = TopicsPostgresImpl(module_login_urls.runtime)
    heard: list[TopicPayload] = []

    async def hear(payload: TopicPayload) -> None:
        heard.append(payload)

    await topics.start()
    await topics.subscribe(Topics.OUTBOX_PENDING, hear)
    yield heard
    await topics.close()


async def test_the_row_is_there_and_the_relay_is_woken_once_when_the_transaction_commits(
    connection: asyncpg.Connection, storage: OutboxStoragePostgresImpl, woken: list[TopicPayload], scope: Scope
) -> None:
    rows = [work_row(scope, WorkKind.NOOP, {}, origin="tests") for _ in range(3)]
    async with connection.transaction():
        for row in rows:
            await add_work(connection, scope, row)
        assert (await storage.read_gauges()).num_pending == 0
        assert woken == []
    assert sorted(row.id for _, row in await storage.take_pending(10, HOLD)) == sorted(row.id for row in rows)
    await eventually(lambda: len(woken) == 1)


async def test_nothing_is_there_and_nobody_is_woken_when_the_transaction_rolls_back(
    connection: asyncpg.Connection, storage: OutboxStoragePostgresImpl, woken: list[TopicPayload], scope: Scope
) -> None:
    transaction = connection.transaction()
    await transaction.start()
    await add_work(connection, scope, work_row(scope, WorkKind.NOOP, {}, origin="tests"))
    await transaction.rollback()
    async with connection.transaction():
        await add_work(connection, scope, work_row(scope, WorkKind.NOOP, {}, origin="the other"))
    await eventually(lambda: len(woken) == 1)
    ((_, row),) = await storage.take_pending(10, HOLD)
    assert isinstance(row, OutboxRow)
    assert row.payload["origin"] == "the other"


async def test_a_session_carries_the_row_too(
    module_login_urls: LoginUrls, storage: OutboxStoragePostgresImpl, woken: list[TopicPayload], scope: Scope
) -> None:
    engine = create_async_engine(module_login_urls.runtime.replace("postgresql://", "postgresql+asyncpg://"))
    row = work_row(scope, WorkKind.NOOP, {"note": "zürich"}, origin="tests")
    async with async_sessionmaker(engine)() as session, session.begin():
        await add_work(session, scope, row)
    async with async_sessionmaker(engine)() as session:
        await add_work(session, scope, work_row(scope, WorkKind.NOOP, {}, origin="never"))
    assert await storage.take_pending(10, HOLD) == ((scope.org_id, row),)
    await eventually(lambda: len(woken) == 1)
    await engine.dispose()


async def test_the_relay_is_woken_in_the_namespace_that_is_named(
    module_login_urls: LoginUrls, connection: asyncpg.Connection, woken: list[TopicPayload], scope: Scope
) -> None:
    topics, heard = TopicsPostgresImpl(module_login_urls.runtime, namespace="ours"), asyncio.Event()

    async def hear(_payload: TopicPayload) -> None:
        heard.set()

    await topics.start()
    await topics.subscribe(Topics.OUTBOX_PENDING, hear)
    async with connection.transaction():
        await add_work(connection, scope, work_row(scope, WorkKind.NOOP, {}, origin="tests"), topics_namespace="ours")
    await asyncio.wait_for(heard.wait(), 10)
    await topics.close()
    assert woken == []


async def test_the_same_row_added_again_changes_nothing(
    connection: asyncpg.Connection, storage: OutboxStoragePostgresImpl, scope: Scope
) -> None:
    row = work_row(scope, WorkKind.NOOP, {}, origin="tests")
    for _ in range(2):
        async with connection.transaction():
            await add_work(connection, scope, row)
    assert await storage.take_pending(10, HOLD) == ((scope.org_id, row),)


@pytest.mark.parametrize("former", ["", str(new_id())], ids=["none", "another"])
async def test_the_transaction_names_the_tenant_that_it_named_before(
    connection: asyncpg.Connection, scope: Scope, former: str
) -> None:
    async with connection.transaction():
        await connection.execute("SELECT set_config('app.org_id', $1, true)", former)
        await add_work(connection, scope, work_row(scope, WorkKind.NOOP, {}, origin="tests"))
        assert await connection.fetchval(TENANT) == former
    assert await connection.fetchval(TENANT) == ""


async def test_a_connection_outside_a_transaction_is_refused(connection: asyncpg.Connection, scope: Scope) -> None:
    with pytest.raises(PreconditionFailed, match="transaction"):
        await add_work(connection, scope, work_row(scope, WorkKind.NOOP, {}, origin="tests"))


async def test_a_payload_that_cannot_be_stored_is_refused_and_the_transaction_goes_on(
    connection: asyncpg.Connection, scope: Scope
) -> None:
    row = work_row(scope, WorkKind.NOOP, {}, origin="tests").with_changes(payload={"a": "\x00"})
    async with connection.transaction():
        with pytest.raises(ValidationFailed, match="payload"):
            await add_work(connection, scope, row)
        assert await connection.fetchval("SELECT 1") == 1
