"""A cache inside the process, for tests and for a process that runs alone."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import override
from uuid import UUID

from headrace.infra.cache import MAX_COUNT, CacheInterface, CacheScope, check_counts, check_listing, checked_ttl

_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")

type _Address = tuple[CacheScope, UUID, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    value: str
    expires_at: float


class CacheMemoryImpl(CacheInterface):
    """Values in a dict: of this process only, dropped by ``close``.

    Args:
        clock: Seconds on a clock that never goes back; tests put their own here.
        max_entries: Above this many live values the oldest written is evicted.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, max_entries: int = 100_000) -> None:
        self._clock = clock
        self._max_entries = max_entries
        self._entries: dict[_Address, _Entry] = {}
        self._is_open = False

    @override
    async def start(self) -> None:
        self._is_open = True

    @override
    async def close(self) -> None:
        self._is_open = False
        self._entries.clear()

    @override
    async def get(self, scope: CacheScope, org_id: UUID, key: str) -> str | None:
        entry = self._live((scope, org_id, key))
        return entry.value if entry else None

    @override
    async def put(self, scope: CacheScope, org_id: UUID, key: str, value: str, *, ttl: timedelta) -> bool:
        return self._store((scope, org_id, key), value, self._clock() + checked_ttl(ttl).total_seconds())

    @override
    async def invalidate(self, scope: CacheScope, org_id: UUID, key: str) -> bool:
        is_live = self._live((scope, org_id, key)) is not None
        self._entries.pop((scope, org_id, key), None)
        return is_live

    @override
    async def increment(self, scope: CacheScope, org_id: UUID, key: str, *, by: int = 1, ttl: timedelta) -> int | None:
        check_counts(scope, by)
        address = (scope, org_id, key)
        entry = self._live(address) or _Entry("0", self._clock() + checked_ttl(ttl).total_seconds())
        total = _sum(entry.value, by)
        if total is None or not self._store(address, str(total), entry.expires_at):
            return None
        return total

    @override
    async def keys(self, scope: CacheScope, org_id: UUID, limit: int) -> tuple[str, ...]:
        check_listing(scope, limit)
        mine = (address for address in self._entries if address[:2] == (scope, org_id))
        return tuple(sorted(address[2] for address in mine if self._live_entry(address)))[:limit]

    @override
    def describe(self) -> str:
        return f"memory of this process, at most {self._max_entries} entries"

    def _live(self, address: _Address) -> _Entry | None:
        return self._live_entry(address) if self._is_open else None

    def _live_entry(self, address: _Address) -> _Entry | None:
        entry = self._entries.get(address)
        return entry if entry and entry.expires_at > self._clock() else None

    def _store(self, address: _Address, value: str, expires_at: float) -> bool:
        if not self._is_open:
            return False
        self._entries.pop(address, None)  # so that the order of the dict is the order of writing
        self._entries[address] = _Entry(value, expires_at)
        if len(self._entries) > self._max_entries:
            self._make_room()
        return True

    def _make_room(self) -> None:
        for address in [address for address in self._entries if not self._live_entry(address)]:
            del self._entries[address]
        while len(self._entries) > self._max_entries:
            del self._entries[next(iter(self._entries))]


def _sum(value: str, by: int) -> int | None:
    if not _NUMBER.fullmatch(value):
        return None
    total = int(value) + by
    return total if -MAX_COUNT - 1 <= total <= MAX_COUNT else None
