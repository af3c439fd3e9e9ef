"""Values that may be lost: a cache by scope and tenant, which never fails its caller."""

from abc import ABC, abstractmethod
from datetime import timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

MIN_TTL: Final = timedelta(milliseconds=1)
MAX_TTL: Final = timedelta(days=366)
MAX_COUNT: Final = 2**63 - 1


class CacheScope(StrEnum):
    """What a key is about; keys of different scopes never meet."""

    WORKER_LIVENESS = "worker_liveness"
    IDEMPOTENCY = "idempotency"


LISTED_SCOPES: Final = frozenset({CacheScope.WORKER_LIVENESS})
"""Scopes whose keys can be listed. Listing costs an index entry per key, so the others go without."""


class CacheInterface(ABC):
    """A store for values that the system can do without.

    It fails open: an unreachable backend reads as a miss and writes as not done, and each call is bounded in time. The
    cache recovers by itself. A key belongs to one tenant; the nil UUID is the system's own.
    """

    @abstractmethod
    async def start(self) -> None:
        """Get ready; does nothing when started already, and succeeds while the backend is away."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """Give back every connection; does nothing when closed already. Calls after it are misses."""
        ...

    @abstractmethod
    async def get(self, scope: CacheScope, org_id: UUID, key: str) -> str | None:
        """Read a value.

        Returns:
            The value, or None when the key was never put, has expired, was evicted, or the backend is away.
        """
        ...

    @abstractmethod
    async def put(self, scope: CacheScope, org_id: UUID, key: str, value: str, *, ttl: timedelta) -> bool:
        """Store a value, replacing what was there together with its lifetime.

        Args:
            scope: What the key is about.
            org_id: The tenant.
            key: Any text.
            value: Any text.
            ttl: Lifetime, from a millisecond to 366 days.

        Returns:
            True when stored; False when the backend is away.

        Raises:
            ValueError: The lifetime is out of its range; nothing was stored.
        """
        ...

    @abstractmethod
    async def invalidate(self, scope: CacheScope, org_id: UUID, key: str) -> bool:
        """Remove a key.

        Returns:
            True when a live value was removed; False when there was none, or the backend is away.
        """
        ...

    @abstractmethod
    async def increment(self, scope: CacheScope, org_id: UUID, key: str, *, by: int = 1, ttl: timedelta) -> int | None:
        """Add to a counter, atomically; a missing counter starts at zero.

        Args:
            scope: What the key is about; not one of ``LISTED_SCOPES``.
            org_id: The tenant.
            key: Any text.
            by: What is added; may be negative, within 64 bits.
            ttl: Lifetime from the counter's creation, as in ``put``; adding to a live counter does not extend it.

        Returns:
            The counter after the addition. None when the backend is away (the addition may or may not have happened),
            when the key holds a value that is no number, or when the sum leaves 64 bits; the last two change nothing.

        Raises:
            ValueError: The lifetime or the addition is out of its range, or the scope is a listed one; nothing was
                added.
        """
        ...

    @abstractmethod
    async def keys(self, scope: CacheScope, org_id: UUID, limit: int) -> tuple[str, ...]:
        """List the live keys of a tenant in a listed scope.

        Args:
            scope: One of ``LISTED_SCOPES``.
            org_id: The tenant.
            limit: How many keys at most, 1 or more.

        Returns:
            Keys sorted as text; which ones, when there are more than the limit, is not promised. Empty when there are
            none or the backend is away.

        Raises:
            ValueError: The scope is not a listed one or the limit is below 1.
        """
        ...

    @abstractmethod
    def describe(self) -> str:
        """Name the backend in one line for the boot log, without credentials."""
        ...


def checked_ttl(ttl: timedelta) -> timedelta:
    """Return the lifetime when every backend can hold it.

    Raises:
        ValueError: It is shorter than a millisecond or longer than 366 days.
    """
    if not MIN_TTL <= ttl <= MAX_TTL:
        raise ValueError(f"ttl must be between {MIN_TTL} and {MAX_TTL}, got {ttl}")
    return ttl


def check_counts(scope: CacheScope, by: int) -> None:
    """Refuse counters in a listed scope, which holds values only, and additions that no backend can hold.

    Raises:
        ValueError: The scope is one of ``LISTED_SCOPES``, or the addition leaves 64 bits.
    """
    if abs(by) > MAX_COUNT:
        raise ValueError(f"by must be between -{MAX_COUNT} and {MAX_COUNT}, got {by}")
    if scope in LISTED_SCOPES:
        raise ValueError(f"cache scope {scope} lists its values and takes no counters")


def check_listing(scope: CacheScope, limit: int) -> None:
    """Refuse a listing that no index serves or that has no bound.

    Raises:
        ValueError: The scope is none of ``LISTED_SCOPES``, or the limit is below 1.
    """
    if scope not in LISTED_SCOPES:
        raise ValueError(f"cache scope {scope} cannot be listed; LISTED_SCOPES names those that can")
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, got {limit}")
