"""Headrace on the bench's ground: a migrated database, orgs, and rows in any number."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from headrace.infra.settings import load_settings
from headrace.om.base import new_id
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.root import Managers, build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.om.storage.root import StorageInterface
from headrace.om.storage.settings import StorageSettings
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.tools.bench.database_counters import forget_statements
from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.ground import Ground, administrator
from headrace.tools.bench.waiting import until
from headrace.tools.dev import create_logins
from headrace.workers.kit.backends import build_infra

LANE: Final = "bench"
TEMPLATES: Final = "templates"
"""The lane that nobody serves: its items are what others are made after."""

SETTLED: Final[Mapping[str, str]] = {
    "status": "'done'",
    "turn": "NULL",
    "attempts": "1",
    "settled_at": "now()",
    "started_at": "now()",
    "claimed_by": "'bench'",
}
"""What `fill` sets for items that were settled just now."""

FUTURE: Final[Mapping[str, str]] = {"turn": "NULL", "available_at": "now() + interval '30 days'"}
"""What `fill` sets for items that are due in a month."""

FILL_BATCH: Final = 50_000
SETTLE_SECONDS: Final = 60.0

_UNSETTLED: Final = "SELECT count(*) FROM queue.work_items WHERE status IN ('queued', 'claimed') AND lane = $1"


_SETTLED: Final = "SELECT count(*) FROM queue.work_items WHERE settled_at IS NOT NULL AND lane = $1"


@dataclass(frozen=True, slots=True)
class Queue:
    """Headrace's side of a bench.

    Attributes:
        managers: The client's, as an API would have them.
        storage: What they are over.
        contexts: One org's each.
        environment: The settings that lead a process to the database.
        admin_dsn: The administrator's URL of the database.
        admin: Their connection, for filling and counting.
    """

    managers: Managers
    storage: StorageInterface
    contexts: tuple[OpContext, ...]
    environment: Mapping[str, str]
    admin_dsn: str
    admin: asyncpg.Connection

    @property
    def ctx(self) -> OpContext:
        """The first org's context."""
        return self.contexts[0]

    async def fill(self, num_items: int, *, changes: Mapping[str, str] | None = None) -> None:
        """Add due items of no operation, evenly over the orgs, without a wake-up.

        Each is a copy, with an id of its own, of an item that the manager enqueued; so that the rows are what an
        enqueue writes, whatever that is, and a million of them is a matter of seconds.

        Args:
            num_items: How many.
            changes: Columns to set differently, as SQL expressions.
        """
        names = await self._column_names()
        own = {"id": "n.id", "lane": f"'{LANE}'", "available_at": "now()"} | dict(changes or {})
        values = ", ".join(own.get(name, f't."{name}"') for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        for first in range(0, num_items, FILL_BATCH):
            ids = [new_id() for _ in range(min(FILL_BATCH, num_items - first))]
            await self.admin.execute(
                f"INSERT INTO queue.work_items ({columns}) SELECT {values}"  # noqa: S608 - names of the catalog
                " FROM unnest($1::uuid[]) WITH ORDINALITY AS n (id, place) JOIN"
                " (SELECT i.*, row_number() OVER (ORDER BY id) - 1 AS number, count(*) OVER () AS num"
                f" FROM queue.work_items AS i WHERE lane = '{TEMPLATES}') AS t ON t.number = n.place % t.num"
                " ORDER BY n.place",
                ids,
            )

    async def rows_to_copy(self, lane: str, num_items: int) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the columns of the items' table, and rows of the first org as an enqueue would write them."""
        names = await self._column_names()
        template = await self.admin.fetchrow(
            "SELECT * FROM queue.work_items WHERE lane = $1 AND org_id = $2 LIMIT 1", TEMPLATES, self.ctx.org_id
        )
        values = [lane if name == "lane" else template[name] for name in names]
        place = names.index("id")
        return names, [(*values[:place], new_id(), *values[place + 1 :]) for _ in range(num_items)]

    async def _column_names(self) -> list[str]:
        rows = await self.admin.fetch(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'queue.work_items'::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum"
        )
        return [row["attname"] for row in rows]

    async def empty(self) -> None:
        """Remove every item but the templates, and count statements anew: each run begins alike."""
        await self.admin.execute("TRUNCATE queue.work_items, queue.work_bundles")
        await self.add_templates()
        await self.settle_statistics()

    async def settle_statistics(self) -> None:
        """Do what autovacuum does in its time, so that it does not fall into a run; forget the statements so far."""
        await self.admin.execute("VACUUM ANALYZE queue.work_items")
        await forget_statements(self.admin)

    async def add_templates(self) -> None:
        """Enqueue what `fill` copies: one item for each org."""
        for ctx in self.contexts:
            await self.managers.work.enqueue(ctx, WorkItem(kind=WorkKind.NOOP, lane=TEMPLATES, origin="bench"))

    async def num_unsettled(self) -> int:
        """Return how many items of the lane wait or are claimed."""
        return int(await self.admin.fetchval(_UNSETTLED, LANE))

    async def num_settled(self) -> int:
        """Return how many items of the lane the table keeps settled."""
        return int(await self.admin.fetchval(_SETTLED, LANE))

    async def wait_settled(self) -> None:
        """Return when no item of the lane waits or is claimed any more.

        Raises:
            BenchError: Some still do after a minute.
        """

        async def is_done() -> bool:
            return await self.num_unsettled() == 0

        if not await until(is_done, SETTLE_SECONDS):
            raise BenchError(f"{await self.num_unsettled()} items were not settled in {SETTLE_SECONDS:g} s.")


@asynccontextmanager
async def open_queue(ground: Ground, *, num_orgs: int = 1, name: str = "headrace") -> AsyncIterator[Queue]:
    """Make a database with orgs and templates, and open a client of it; close the client at the end."""
    dsn = await ground.create_database(name)
    urls = await create_logins(dsn)
    environment = urls.environment() | {"HEADRACE_TOPICS_BACKEND": "postgres", "HEADRACE_SERVICE": "bench-client"}
    await migrate(database_options(_settings(environment)))
    async with open_client(environment) as (managers, storage), administrator(dsn) as admin:
        contexts = await _contexts(managers, num_orgs)
        queue = Queue(managers, storage, contexts, environment, dsn, admin)
        await queue.add_templates()
        await queue.settle_statistics()
        yield queue


@asynccontextmanager
async def open_client(environment: Mapping[str, str]) -> AsyncIterator[tuple[Managers, StorageInterface]]:
    """Open managers over the database that an environment leads to; close what they use at the end."""
    settings = _settings(environment)
    storage, infra = StoragePostgresImpl(Database(database_options(settings))), build_infra(settings)
    await infra.start()
    try:
        yield build_managers(storage, infra), storage
    finally:
        await infra.close()
        await storage.close()


def new_request() -> RequestContext:
    """Return the context of a request of the bench's own."""
    return RequestContext(app=AppContext(type=AppType.CLI, version="bench@1"))


async def _contexts(managers: Managers, num_orgs: int) -> tuple[OpContext, ...]:
    rctx = new_request()
    contexts: list[OpContext] = []
    for number in range(num_orgs):
        user = User(name="B", login_name=f"bench-{number}")
        contexts.append(await managers.tenancy.create_org(rctx, Org(name=f"Bench {number}"), user))
    return tuple(contexts)


def _settings(environment: Mapping[str, str]) -> StorageSettings:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        return load_settings(StorageSettings)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
