"""The memory cache: the contract, and what its clock and its bound do."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest

from headrace.infra.cache import CacheScope
from headrace.infra.cache.impl.memory import CacheMemoryImpl
from infra.tests.contracts.cache import CacheContract, org_id

__all__ = ["org_id"]

ORG_ID = uuid4()
SECOND = timedelta(seconds=1)


class TestCacheMemory(CacheContract):
    @pytest.fixture
    async def cache(self) -> AsyncIterator[CacheMemoryImpl]:
        cache = CacheMemoryImpl()
        await cache.start()
        yield cache
        await cache.close()


async def test_a_value_ends_exactly_when_its_lifetime_is_over() -> None:
    now = 100.0
    cache = CacheMemoryImpl(clock=lambda: now)
    await cache.start()
    await cache.put(CacheScope.IDEMPOTENCY, ORG_ID, "key", "value", ttl=SECOND)
    now = 100.999
    assert await cache.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") == "value"
    now = 101.0
    assert await cache.get(CacheScope.IDEMPOTENCY, ORG_ID, "key") is None


async def test_the_oldest_value_is_evicted_when_there_is_no_room() -> None:
    cache = CacheMemoryImpl(max_entries=2)
    await cache.start()
    for key in ("first", "second", "third"):
        await cache.put(CacheScope.WORKER_LIVENESS, ORG_ID, key, "value", ttl=SECOND)
    assert await cache.keys(CacheScope.WORKER_LIVENESS, ORG_ID, 10) == ("second", "third")


async def test_expired_values_make_room_before_live_ones_are_evicted() -> None:
    now = 0.0
    cache = CacheMemoryImpl(clock=lambda: now, max_entries=2)
    await cache.start()
    await cache.put(CacheScope.WORKER_LIVENESS, ORG_ID, "live", "value", ttl=SECOND * 10)
    await cache.put(CacheScope.WORKER_LIVENESS, ORG_ID, "expired", "value", ttl=SECOND)
    now = 5.0
    await cache.put(CacheScope.WORKER_LIVENESS, ORG_ID, "new", "value", ttl=SECOND)
    assert await cache.keys(CacheScope.WORKER_LIVENESS, ORG_ID, 10) == ("live", "new")


def test_the_description_names_the_bound() -> None:
    assert "2 entries" in CacheMemoryImpl(max_entries=2).describe()
