"""The topics over Redis: the contract over a real server, and every way in which its connection is lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.topics import Topics
from headrace.infra.topics.impl.listener import ListenerOptions
from headrace.infra.topics.impl.redis import TopicsRedisImpl
from headrace.tools.dev import RedisServer
from infra.tests.contracts.eventually import eventually
from infra.tests.contracts.listening import QUICK, hears, hears_again, new_namespace
from infra.tests.contracts.messages import Ear, available
from infra.tests.contracts.topics import TopicsContract, started
from tests.fixtures.servers import StartRedis

CALMING = replace(QUICK, backoff_cap=timedelta(seconds=2))

__all__ = ["started"]


@pytest.mark.servers
class TestTopicsRedis(TopicsContract):
    @pytest.fixture
    def namespace(self) -> str:
        return new_namespace()

    @pytest.fixture
    def topics(self, redis_server: RedisServer, namespace: str) -> TopicsRedisImpl:
        return TopicsRedisImpl(redis_server.url, namespace=namespace, options=QUICK)

    @pytest.fixture
    def peer(self, redis_server: RedisServer, namespace: str) -> TopicsRedisImpl:
        return TopicsRedisImpl(redis_server.url, namespace=namespace, options=QUICK)


@pytest.mark.servers
async def test_messages_are_heard_again_when_the_server_was_stopped_and_started(start_redis: StartRedis) -> None:
    server = start_redis()
    async with _running(server.url) as topics:
        ear = await hears(topics)
        await asyncio.to_thread(server.stop)
        assert not await topics.publish(Topics.WORK_AVAILABLE, available())
        await asyncio.to_thread(server.start)
        await hears_again(topics, ear)


@pytest.mark.servers
async def test_messages_are_heard_when_the_server_comes_after_the_listener(start_redis: StartRedis) -> None:
    server = start_redis()
    await asyncio.to_thread(server.stop)
    async with _running(server.url, replace(QUICK, subscribe_timeout=QUICK.backoff_base)) as topics:
        ear = Ear()
        await topics.subscribe(Topics.WORK_AVAILABLE, ear)
        assert topics.last_heard_age() is None
        await asyncio.to_thread(server.start)
        await hears_again(topics, ear)


@pytest.mark.servers
async def test_the_processor_stays_idle_when_the_connection_is_ended_again_and_again(start_redis: StartRedis) -> None:
    server = start_redis()
    async with _running(server.url, CALMING) as topics, Redis.from_url(server.url) as admin:
        ear = await hears(topics)
        spent, num_ended = time.process_time(), 0
        for _ in range(15):
            num_ended += int(await admin.client_kill_filter(_type="pubsub"))
            await asyncio.sleep(0.2)  # the rhythm of the fault, not a wait for a state
        spent = time.process_time() - spent
        await hears_again(topics, ear)
    assert 2 < num_ended < 12  # waits that grow leave most of the attempts nothing to end
    assert spent < 1.5  # a loop that never sleeps spends all of the three seconds


@pytest.mark.servers
async def test_a_stranger_message_is_counted_and_left_out_when_it_cannot_be_read(redis_server: RedisServer) -> None:
    namespace = new_namespace()
    async with _running(redis_server.url, namespace=namespace) as topics, Redis.from_url(redis_server.url) as admin:
        ear = await hears(topics)
        await admin.publish(f"{namespace}_work_available", b"\xff\xfe\x00")
        await eventually(lambda: topics.num_dropped() == 1)
        await hears_again(topics, ear)


async def test_starting_and_closing_succeed_when_nothing_listens_at_the_address() -> None:
    topics = TopicsRedisImpl("redis://127.0.0.1:1/0", options=QUICK)
    await topics.start()
    await topics.close()
    assert topics.last_heard_age() is None


def test_the_description_shows_no_credential() -> None:
    described = TopicsRedisImpl("rediss://user:hidden@cache.internal:6379/3?password=hidden").describe()
    assert "rediss://cache.internal:6379/3" in described
    assert "hidden" not in described


def test_an_address_is_refused_when_it_is_not_redis() -> None:
    with pytest.raises(ConfigurationInvalid, match="redis topics needs an address"):
        TopicsRedisImpl("http://cache")


@asynccontextmanager
async def _running(
    url: str, options: ListenerOptions = QUICK, *, namespace: str | None = None
) -> AsyncIterator[TopicsRedisImpl]:
    topics = TopicsRedisImpl(url, namespace=namespace or new_namespace(), options=options)
    await topics.start()
    try:
        yield topics
    finally:
        await topics.close()
