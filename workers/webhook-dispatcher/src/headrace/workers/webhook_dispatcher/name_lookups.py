"""Looking names up within bounds, so that a tenant whose names are never answered holds up itself alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final
from uuid import UUID
from weakref import WeakValueDictionary

from headrace.workers.webhook_dispatcher.addresses import Address

MAX_LOOKUPS: Final = 64
"""At once, in all: each holds a thread for as long as the name servers keep it waiting."""
MAX_LOOKUPS_OF_ORG: Final = 8

type Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Returns the addresses of a host, best first; takes the port that is meant, and raises OSError when it cannot."""
type _Wanted = tuple[UUID | None, str, int]


class NameLookups:
    """Looks names up, each at most once at a time for an org, and a bounded number of them for an org and in all.

    Safe to use from many tasks of one event loop.

    Args:
        resolve: Looks one up; cannot be stopped, as a rule, so that it keeps its place until it ends.
        max_in_all: How many at once; 1 or more.
        max_of_org: How many at once for one org; 1 or more, below `max_in_all`.
    """

    def __init__(
        self, resolve: Resolve, *, max_in_all: int = MAX_LOOKUPS, max_of_org: int = MAX_LOOKUPS_OF_ORG
    ) -> None:
        self._resolve = resolve
        self._places = asyncio.Semaphore(max_in_all)
        self._max_of_org = max_of_org
        # An org's places are there for as long as a look-up of the org holds them or waits for one.
        self._places_of: WeakValueDictionary[UUID | None, asyncio.Semaphore] = WeakValueDictionary()
        self._running: dict[_Wanted, asyncio.Task[Sequence[Address]]] = {}

    async def find(self, org_id: UUID | None, host: str, port: int) -> Sequence[Address]:
        """Return what the host resolves to, by the look-up that is under way for the org, or by a new one.

        It may wait for a place and for the name servers without a bound, which is the caller's to set. When the
        caller is cancelled, the look-up goes on for whoever asks next.

        Args:
            org_id: Who wants to know; None is nobody in particular.
            host: The name, or an address.
            port: The one that is meant.

        Raises:
            OSError: It cannot be resolved.
        """
        wanted = (org_id, host, port)
        lookup = self._running.get(wanted)
        if lookup is None:
            lookup = self._running[wanted] = asyncio.create_task(self._looked_up(*wanted))
            lookup.add_done_callback(partial(self._forget, wanted))
        await asyncio.wait([lookup])
        return lookup.result()

    async def _looked_up(self, org_id: UUID | None, host: str, port: int) -> Sequence[Address]:
        # The org's place first: whoever waits for one of these holds none of everybody's.
        async with self._places_of.setdefault(org_id, asyncio.Semaphore(self._max_of_org)), self._places:
            return await self._resolve(host, port)

    def _forget(self, wanted: _Wanted, lookup: asyncio.Task[Sequence[Address]]) -> None:
        del self._running[wanted]
        if not lookup.cancelled():
            lookup.exception()  # taken, so that nobody is warned of a failure that nobody waited for
