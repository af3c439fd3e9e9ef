"""The Redis cache: the contract over a real server, and what it does while the server is away."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Self
from uuid import uuid4

import pytest

from headrace.infra.cache import CacheScope
from headrace.infra.cache.impl.redis import CacheRedisImpl, CacheRedisOptions
from headrace.infra.exceptions import ConfigurationInvalid
from headrace.tools.dev import RedisServer
from infra.tests.contracts.cache import CacheContract, org_id
from infra.tests.contracts.eventually import eventually
from tests.fixtures.servers import StartRedis

__all__ = ["org_id"]

ORG_ID = uuid4()
HOUR = timedelta(hours=1)
PATIENT = CacheRedisOptions(connect_timeout=timedelta(seconds=5), op_timeout=timedelta(seconds=5))
HASTY = CacheRedisOptions(op_timeout=timedelta(milliseconds=50), retry_pause=timedelta(milliseconds=1))


@pytest.mark.servers
class TestCacheRedis(CacheContract):
    @pytest.fixture
    async def cache(self, redis_server: RedisServer) -> AsyncIterator[CacheRedisImpl]:
        cache = CacheRedisImpl(redis_server.url, PATIENT)
        await cache.start()
        yield cache
        await cache.close()


@pytest.mark.servers
async def test_values_are_shared_when_two_processes_use_one_namespace(redis_server: RedisServer) -> None:
    async with _started(redis_server.url, "one") as first, _started(redis_server.url, "one") as second:
        await first.put(CacheScope.WORKER_LIVENESS, ORG_ID, "worker", "value", ttl=HOUR)
        assert await second.keys(CacheScope.WORKER_LIVENESS, ORG_ID, 10) == ("worker",)


@pytest.mark.servers
async def test_values_are_apart_when_the_namespaces_differ(redis_server: RedisServer) -> None:
    async with _started(redis_server.url, "one") as first, _started(redis_server.url, "two") as second:
        await first.put(CacheScope.IDEMPOTENCY, ORG_ID, "key", "value", ttl=HOUR)
        assert await second.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") is None


@pytest.mark.servers
async def test_it_misses_during_an_outage_and_recovers_by_itself_when_the_server_returns(
    start_redis: StartRedis, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "headrace.infra")
    server = start_redis()
    async with _started(server.url, "outage") as cache:
        assert await _writes(cache)
        await asyncio.to_thread(server.stop)
        for _ in range(5):
            assert not await _writes(cache)
            assert await cache.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") is None
            assert await cache.increment(CacheScope.IDEMPOTENCY, ORG_ID, "count", ttl=HOUR) is None
            assert await cache.keys(CacheScope.WORKER_LIVENESS, ORG_ID, 5) == ()
            assert not await cache.invalidate(CacheScope.IDEMPOTENCY, ORG_ID, "key")
        await asyncio.to_thread(server.start)
        await eventually(lambda: _writes(cache))
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


@pytest.mark.servers
async def test_it_starts_and_recovers_when_the_server_comes_later(start_redis: StartRedis) -> None:
    server = start_redis()
    await asyncio.to_thread(server.stop)
    async with _started(server.url, "late") as cache:
        assert not await _writes(cache)
        await asyncio.to_thread(server.start)
        await eventually(lambda: _writes(cache))


async def test_a_call_ends_as_a_miss_when_the_server_accepts_and_never_answers() -> None:
    async with _Silence() as silence:
        cache = CacheRedisImpl(silence.url, HASTY)
        await cache.start()
        assert await cache.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") is None
        await cache.close()
        assert silence.num_connections == 1


async def test_calls_end_as_misses_when_the_answers_are_of_the_wrong_type() -> None:
    async with _Silence(answer=b":1\r\n") as odd:
        cache = CacheRedisImpl(odd.url, CacheRedisOptions(retry_pause=timedelta(0)))
        await cache.start()
        assert await cache.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") is None
        assert await cache.keys(CacheScope.WORKER_LIVENESS, ORG_ID, 5) == ()
        assert await cache.increment(CacheScope.IDEMPOTENCY, ORG_ID, "count", ttl=HOUR) is None
        assert not await cache.invalidate(CacheScope.IDEMPOTENCY, ORG_ID, "key")
        await cache.close()


async def test_the_server_is_spared_when_it_has_just_failed() -> None:
    now = 0.0
    async with _Silence() as silence:
        cache = CacheRedisImpl(silence.url, HASTY, clock=lambda: now)
        await cache.start()
        for now in (0.0, 0.0005, 0.0009, 0.002):  # noqa: B007 - the cache's clock reads it
            assert await cache.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") is None
        await cache.close()
        assert silence.num_connections == 2


def test_the_description_shows_no_credential() -> None:
    described = CacheRedisImpl("redis://user:hidden@cache.internal:6379/3?password=hidden").describe()
    assert "redis://cache.internal:6379/3" in described
    assert "hidden" not in described


def test_an_address_is_refused_when_it_has_no_known_scheme() -> None:
    with pytest.raises(ConfigurationInvalid, match="redis cache needs an address that begins with one of redis"):
        CacheRedisImpl("localhost:6379")


class _Silence:
    """A server that accepts connections and says nothing, or the same to every command."""

    def __init__(self, answer: bytes = b"") -> None:
        self._answer = answer
        self.num_connections = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/0"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.num_connections += 1
        self._writers.append(writer)
        while self._answer and (line := await reader.readline()):
            if line.startswith(b"*"):  # the first line of each command
                writer.write(self._answer)


@asynccontextmanager
async def _started(url: str, namespace: str) -> AsyncIterator[CacheRedisImpl]:
    timeout = timedelta(seconds=5)
    options = CacheRedisOptions(namespace=f"{namespace}-{ORG_ID}", connect_timeout=timeout, op_timeout=timeout)
    cache = CacheRedisImpl(url, options)
    await cache.start()
    try:
        yield cache
    finally:
        await cache.close()


async def _writes(cache: CacheRedisImpl) -> bool:
    return await cache.put(CacheScope.IDEMPOTENCY, ORG_ID, "key", "value", ttl=HOUR)
