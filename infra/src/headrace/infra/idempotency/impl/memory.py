"""Handled keys inside the process."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import override
from uuid import UUID

from headrace.infra.cache import checked_ttl
from headrace.infra.idempotency import HandledKeysInterface, checked_consumer


class HandledKeysMemoryImpl(HandledKeysInterface):
    """Keys in a dict, in the order they were recorded, which is the order in which they expire.

    Args:
        keep_for: How long a key counts as handled, from a millisecond to 366 days.
        clock: Seconds on a clock that never goes back; tests put their own here.

    Raises:
        ValueError: The time is out of its range.
    """

    def __init__(self, *, keep_for: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep_for = checked_ttl(keep_for)
        self._clock = clock
        self._expires_at: dict[tuple[UUID, str, str], float] = {}

    @override
    async def first_time(self, org_id: UUID, consumer: str, key: str) -> bool:
        self._drop_expired()
        address = (org_id, checked_consumer(consumer), key)
        if address in self._expires_at:
            return False
        self._expires_at[address] = self._clock() + self._keep_for.total_seconds()
        return True

    @override
    async def forget(self, org_id: UUID, consumer: str, key: str) -> None:
        self._expires_at.pop((org_id, checked_consumer(consumer), key), None)

    @override
    def describe(self) -> str:
        return f"handled keys for {self._keep_for} in memory of this process"

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._expires_at and self._expires_at[oldest := next(iter(self._expires_at))] <= now:
            del self._expires_at[oldest]
