"""The topics over PostgreSQL: the contract over a real server, and every way in which its connection is lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.topics import Topics
from headrace.infra.topics.impl.listener import ListenerOptions
from headrace.infra.topics.impl.postgres import TopicsPostgresImpl
from headrace.tools.dev import PostgresServer
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.listening import QUICK, hears, hears_again, new_namespace
from infra.tests.contracts.messages import Ear, available
from infra.tests.contracts.topics import TopicsContract, started
from tests.fixtures.servers import StartPostgres

__all__ = ["started"]

# So that only the end of the session itself can tell the listener, and not its self-test.
UNTESTED = replace(QUICK, self_test_interval=timedelta(hours=1))
CALMING = replace(QUICK, backoff_cap=timedelta(seconds=2))

OF_THIS_TEST = "application_name = 'headrace topics' AND datname = current_database()"
TERMINATE = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {OF_THIS_TEST}"  # noqa: S608 - fixed


@pytest.fixture(scope="module")
def dsn(postgres_server: PostgresServer) -> str:
    """A database of this module's own, where no other test's sessions are."""
    return postgres_server.create_database(new_namespace())


@pytest.mark.servers
class TestTopicsPostgres(TopicsContract):
    @pytest.fixture
    def namespace(self) -> str:
        return new_namespace()

    @pytest.fixture
    def topics(self, dsn: str, namespace: str) -> TopicsPostgresImpl:
        return TopicsPostgresImpl(dsn, namespace=namespace, options=QUICK)

    @pytest.fixture
    def peer(self, dsn: str, namespace: str) -> TopicsPostgresImpl:
        return TopicsPostgresImpl(dsn, namespace=namespace, options=QUICK)


@pytest.mark.servers
async def test_messages_are_heard_again_when_the_server_was_stopped_and_started(start_postgres: StartPostgres) -> None:
    server = start_postgres()
    async with _running(server.dsn()) as topics:
        ear = await hears(topics)
        await asyncio.to_thread(server.stop)
        assert not await topics.publish(Topics.WORK_AVAILABLE, available())
        await asyncio.to_thread(server.start)
        await hears_again(topics, ear)


@pytest.mark.servers
async def test_messages_are_heard_when_the_server_comes_after_the_listener(start_postgres: StartPostgres) -> None:
    server = start_postgres()
    await asyncio.to_thread(server.stop)
    options = replace(QUICK, subscribe_timeout=QUICK.backoff_base)
    async with _running(server.dsn(), options) as topics:
        ear = Ear()
        await topics.subscribe(Topics.WORK_AVAILABLE, ear)
        assert topics.last_heard_age() is None
        await asyncio.to_thread(server.start)
        await hears_again(topics, ear)


@pytest.mark.servers
async def test_messages_are_heard_again_when_the_session_was_ended_by_the_server(dsn: str) -> None:
    async with _running(dsn, UNTESTED) as topics, _session(dsn) as admin:
        ear = await hears(topics)
        assert await admin.fetchval(TERMINATE) == 1
        await hears_again(topics, ear)


@pytest.mark.servers
async def test_the_processor_stays_idle_when_the_session_is_ended_again_and_again(dsn: str) -> None:
    async with _running(dsn, CALMING) as topics, _session(dsn) as admin:
        ear = await hears(topics)
        spent, num_ended = time.process_time(), 0
        for _ in range(15):
            num_ended += await admin.fetchval(TERMINATE)
            await asyncio.sleep(0.2)  # the rhythm of the fault, not a wait for a state
        spent = time.process_time() - spent
        await hears_again(topics, ear)
    assert 2 < num_ended < 12  # waits that grow leave most of the attempts nothing to end
    assert spent < 1.5  # a loop that never sleeps spends all of the three seconds


@pytest.mark.servers
async def test_the_listener_waits_for_the_role_when_listening_is_refused_at_first(
    postgres_server: PostgresServer, dsn: str
) -> None:
    role = new_namespace()
    await asyncio.to_thread(postgres_server.execute, f"CREATE ROLE {role} NOLOGIN PASSWORD 'late'")
    database = dsn.rpartition("/")[2].partition("?")[0]
    address = postgres_server.dsn(database, user=role, password="late")
    async with _running(address, replace(QUICK, subscribe_timeout=QUICK.backoff_base)) as topics:
        ear = Ear()
        await topics.subscribe(Topics.WORK_AVAILABLE, ear)
        assert topics.last_heard_age() is None
        await asyncio.to_thread(postgres_server.execute, f"ALTER ROLE {role} LOGIN")
        await hears_again(topics, ear)


@pytest.mark.servers
async def test_a_process_holds_one_session_and_gives_it_back_when_closed(dsn: str) -> None:
    async with _session(dsn) as admin:
        async with _running(dsn) as topics:
            await hears(topics)
            assert await _num_sessions(admin) == 1
        await eventually(lambda: _is_alone(admin))


@pytest.mark.servers
async def test_a_stranger_message_is_counted_and_left_out_when_it_cannot_be_read(dsn: str) -> None:
    namespace = new_namespace()
    async with _running(dsn, namespace=namespace) as topics, _session(dsn) as admin:
        ear = await hears(topics)
        await admin.execute("SELECT pg_notify($1, 'no message')", f"{namespace}_work_available")
        await eventually(lambda: topics.num_dropped() == 1)
        await hears_again(topics, ear)


async def test_starting_and_closing_succeed_when_nothing_listens_at_the_address() -> None:
    topics = TopicsPostgresImpl("postgresql://nobody@127.0.0.1:1/none", options=QUICK)
    await topics.start()
    await topics.close()
    assert topics.last_heard_age() is None


def test_the_description_shows_no_credential() -> None:
    described = TopicsPostgresImpl("postgresql+asyncpg://user:hidden@db.internal:5432/queue?password=hidden").describe()
    assert "postgresql://db.internal:5432/queue" in described
    assert "hidden" not in described


@pytest.mark.parametrize("namespace", ["", "Upper", "1st", "with-dash", 'quote"', "x" * 25])
def test_a_namespace_is_refused_when_it_cannot_begin_a_channel(namespace: str) -> None:
    with pytest.raises(ConfigurationInvalid, match="topics namespace must be"):
        TopicsPostgresImpl("postgresql://db/queue", namespace=namespace)


def test_an_address_is_refused_when_it_is_not_postgres() -> None:
    with pytest.raises(ConfigurationInvalid, match="postgres topics needs an address"):
        TopicsPostgresImpl("mysql://db/queue")


@asynccontextmanager
async def _running(
    dsn: str, options: ListenerOptions = QUICK, *, namespace: str | None = None
) -> AsyncIterator[TopicsPostgresImpl]:
    topics = TopicsPostgresImpl(dsn, namespace=namespace or new_namespace(), options=options)
    await topics.start()
    try:
        yield topics
    finally:
        await topics.close()


@asynccontextmanager
async def _session(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    session = await asyncpg.connect(dsn)
    try:
        yield session
    finally:
        await session.close()


async def _num_sessions(admin: asyncpg.Connection) -> int:
    count: int = await admin.fetchval(f"SELECT count(*) FROM pg_stat_activity WHERE {OF_THIS_TEST}")  # noqa: S608 - fixed
    return count


async def _is_alone(admin: asyncpg.Connection) -> bool:
    return await _num_sessions(admin) == 0
