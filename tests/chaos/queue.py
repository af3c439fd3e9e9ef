"""The queue as tests see it: an org that enqueues, and looks at what became of its items."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from headrace.om.base import FrozenMapping
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.exceptions import Unavailable
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import database_options
from headrace.om.storage.settings import StorageSettings
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.backends import build_infra
from tests.fixtures.workers import PATIENCE, until

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Queue:
    """One org's queue, over managers and toolkits of this process's own."""

    managers: Managers
    infra: Infra
    ctx: OpContext

    async def enqueue(self, note: str = "", **fields: Any) -> UUID:  # noqa: ANN401 - fields of any type
        """Enqueue an item whose handler does what the note says; return its id."""
        return (await self.managers.work.enqueue(self.ctx, item(note, **fields))).id

    async def enqueue_many(self, notes: Iterable[str], **fields: Any) -> tuple[UUID, ...]:  # noqa: ANN401 - likewise
        """Enqueue an item for each note in one statement, and again until the database takes it; return their ids."""
        items = [item(note, **fields) for note in notes]

        async def is_taken() -> bool:
            try:
                await self.managers.work.enqueue_many(self.ctx, items)
            except Unavailable:
                return False
            return True

        await until(is_taken, "the items are enqueued")
        return tuple(each.id for each in items)

    async def item(self, item_id: UUID) -> WorkItem:
        """Return an item as it stands."""
        return await self.managers.work.get_item(self.ctx, item_id)

    async def items(self) -> tuple[WorkItem, ...]:
        """Return all items, newest first."""
        found: list[WorkItem] = []
        while len(page := await self._page(found[-1].id if found else None)) == PAGE:
            found.extend(page)
        return (*found, *page)

    async def counts(self) -> dict[WorkStatus, int]:
        """Return how many items stand at each status that occurs."""
        report = await self.managers.work.get_status(self.ctx)
        counts: Counter[WorkStatus] = Counter()
        for each in report.counts:
            counts[each.status] += each.num_items
        return dict(counts)

    async def num_done(self) -> int:
        """Return how many items are done; 0 while the database does not answer."""
        try:
            return (await self.counts()).get(WorkStatus.DONE, 0)
        except Unavailable:
            return 0

    async def until_done(self, num: int, *, within: float = PATIENCE) -> None:
        """Wait until so many items are done."""

        async def is_done() -> bool:
            return await self.num_done() >= num

        await until(is_done, f"{num} items are done", within=within)

    async def _page(self, after: UUID | None) -> tuple[WorkItem, ...]:
        return await self.managers.work.get_items(self.ctx, WorkFilter(), PAGE, after)


def item(note: str, **fields: Any) -> WorkItem:  # noqa: ANN401 - fields of any type
    """Return an item whose handler does what the note says."""
    return WorkItem(kind=WorkKind.NOOP, origin="chaos", payload=FrozenMapping({"note": note}), **fields)


@asynccontextmanager
async def open_queue(settings: StorageSettings) -> AsyncIterator[Queue]:
    """Give the queue of a new org over the servers that the settings name."""
    storage, infra = StoragePostgresImpl(Database(database_options(settings))), build_infra(settings)
    managers = build_managers(storage, infra)
    await infra.start()
    try:
        rctx = RequestContext(app=AppContext(type=AppType.TEST, version="chaos@1"))
        owner = User(name="Owner", login_name=f"owner-{uuid4().hex[:8]}")
        yield Queue(managers, infra, await managers.tenancy.create_org(rctx, Org(name="Chaos"), owner))
    finally:
        await infra.close()
        await storage.close()
