"""Where enqueued work goes instead of into the queue: the one place at which `headrace.om.testing` takes hold.

Nothing is diverted unless the present context says so, and only the helpers for tests say so. What is diverted was
checked and stamped like any other work, so that a test sees the same refusals.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from uuid import UUID

from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.work_item import WorkItem


class WorkDiversion(ABC):
    """Takes work that would be enqueued."""

    @abstractmethod
    async def take_items(self, org_id: UUID, items: Sequence[WorkItem]) -> Mapping[UUID, WorkItem]:
        """Take some of the items; return those taken, by id, as whoever enqueued them is to see them."""
        ...

    @abstractmethod
    async def take_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle | None:
        """Take a bundle with its items; return it as whoever enqueued it is to see it, None where it is not taken."""
        ...


_diversions: Final[ContextVar[tuple[WorkDiversion, ...]]] = ContextVar("work_diversions", default=())


@contextmanager
def diverting(diversion: WorkDiversion) -> Iterator[None]:
    """Divert the work that the body enqueues, and what tasks that it starts enqueue; the innermost takes first."""
    token = _diversions.set((*_diversions.get(), diversion))
    try:
        yield
    finally:
        _diversions.reset(token)


async def divert_items(org_id: UUID, items: Sequence[WorkItem]) -> Mapping[UUID, WorkItem]:
    """Return the items that are diverted, by id; empty where nothing is."""
    taken: dict[UUID, WorkItem] = {}
    for diversion in reversed(_diversions.get()):
        taken |= await diversion.take_items(org_id, [item for item in items if item.id not in taken])
    return taken


async def divert_bundle(org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle | None:
    """Return the bundle where it is diverted, else None."""
    for diversion in reversed(_diversions.get()):
        if (taken := await diversion.take_bundle(org_id, bundle, items)) is not None:
            return taken
    return None
