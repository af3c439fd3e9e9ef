"""What the last claims learned about orgs and users, kept for a few seconds."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from itertools import islice
from typing import Final
from uuid import UUID

from headrace.om.context import SecurityContext

type OrgAndUser = tuple[UUID, UUID]
"""An org and the user who enqueued something there."""

type Principals = dict[OrgAndUser, SecurityContext | None]
"""What work runs as; None where the org is gone."""

DEFAULT_CAPACITY: Final = 10_000


class PrincipalCache:
    """Remembers principals for a time, a bounded number of them; the oldest go first.

    Args:
        ttl: How long one is remembered, counted from before it was read; zero remembers nothing.
        monotonic: Seconds on a clock that never goes back.
        capacity: How many are remembered at most.
    """

    def __init__(self, ttl: timedelta, monotonic: Callable[[], float], *, capacity: int = DEFAULT_CAPACITY) -> None:
        self._ttl_seconds = ttl.total_seconds()
        self._monotonic = monotonic
        self._capacity = capacity
        self._entries: dict[OrgAndUser, tuple[float, SecurityContext | None]] = {}

    def now(self) -> float:
        """Return the instant to `keep` a read under; take it before the read."""
        return self._monotonic()

    def known(self, pairs: Iterable[OrgAndUser]) -> Principals:
        """Return what is remembered; what is not, is left out."""
        fresh_from = self._monotonic() - self._ttl_seconds
        found = ((pair, self._entries.get(pair)) for pair in pairs)
        return {pair: entry[1] for pair, entry in found if entry is not None and entry[0] > fresh_from}

    def keep(self, read_at: float, principals: Mapping[OrgAndUser, SecurityContext | None]) -> None:
        """Remember what was read at that instant."""
        for pair, principal in principals.items():
            # Taken out first, so that the dictionary's order is the order of age.
            self._entries.pop(pair, None)
            self._entries[pair] = (read_at, principal)
        for pair in list(islice(self._entries, max(0, len(self._entries) - self._capacity))):
            del self._entries[pair]

    def forget(self, org_id: UUID) -> None:
        """Remember nothing of an org, because it has changed."""
        for pair in [pair for pair in self._entries if pair[0] == org_id]:
            del self._entries[pair]
