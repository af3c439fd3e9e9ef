"""Handled keys in a cache: over the memory cache for one process, over Redis for all of them."""

import hashlib
from datetime import timedelta
from typing import Final, override
from uuid import UUID

from headrace.infra.cache import CacheInterface, CacheScope, checked_ttl
from headrace.infra.idempotency import HandledKeysInterface, checked_consumer

MAX_KEY_LENGTH: Final = 200


class HandledKeysCacheImpl(HandledKeysInterface):
    """A counter for each key; the caller that counts to one is the first.

    Args:
        cache: Where the counters live; started and closed by its own owner.
        keep_for: How long a key counts as handled, from a millisecond to 366 days.

    Raises:
        ValueError: The time is out of its range.
    """

    def __init__(self, cache: CacheInterface, *, keep_for: timedelta) -> None:
        self._cache = cache
        self._keep_for = checked_ttl(keep_for)

    @override
    async def first_time(self, org_id: UUID, consumer: str, key: str) -> bool:
        count = await self._cache.increment(
            CacheScope.IDEMPOTENCY, org_id, _cache_key(consumer, key), ttl=self._keep_for
        )
        return count is None or count == 1

    @override
    async def forget(self, org_id: UUID, consumer: str, key: str) -> None:
        await self._cache.invalidate(CacheScope.IDEMPOTENCY, org_id, _cache_key(consumer, key))

    @override
    def describe(self) -> str:
        return f"handled keys for {self._keep_for} in {self._cache.describe()}"


def _cache_key(consumer: str, key: str) -> str:
    # A consumer's name holds no colon, so no two pairs share a key; a long key is kept as its digest.
    if len(key) > MAX_KEY_LENGTH:
        key = "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{checked_consumer(consumer)}:{key}"
