"""Handled keys in a cache: the contract over both caches, and what a lost cache means."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest

from headrace.infra.cache import CacheInterface
from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.cache.impl.redis import CacheRedisImpl, CacheRedisOptions
from headrace.infra.idempotency.impl.cache import HandledKeysCacheImpl
from headrace.tools.dev import RedisServer
from infra.tests.contracts.handled_keys import HandledKeysContract, org_id

__all__ = ["org_id"]


class OverCache(HandledKeysContract):
    @pytest.fixture
    def handled(self, cache: CacheInterface) -> HandledKeysCacheImpl:
        return HandledKeysCacheImpl(cache, keep_for=timedelta(hours=1))

    @pytest.fixture
    def briefly(self, cache: CacheInterface) -> HandledKeysCacheImpl:
        return HandledKeysCacheImpl(cache, keep_for=timedelta(milliseconds=60))


class TestHandledKeysMemoryCache(OverCache):
    @pytest.fixture
    async def cache(self) -> CacheMemoryImpl:
        cache = CacheMemoryImpl()
        await cache.start()
        return cache


@pytest.mark.servers
class TestHandledKeysRedisCache(OverCache):
    @pytest.fixture
    async def cache(self, redis_server: RedisServer) -> AsyncIterator[CacheRedisImpl]:
        options = CacheRedisOptions(connect_timeout=timedelta(seconds=5), op_timeout=timedelta(seconds=5))
        cache = CacheRedisImpl(redis_server.url, options)
        await cache.start()
        yield cache
        await cache.close()


async def test_a_key_counts_as_new_when_the_cache_is_away() -> None:
    handled = HandledKeysCacheImpl(CacheRedisImpl("redis://127.0.0.1:1/0"), keep_for=timedelta(hours=1))
    org = uuid4()
    assert await handled.first_time(org, "mailer", "key")
    assert await handled.first_time(org, "mailer", "key")
    await handled.forget(org, "mailer", "key")
