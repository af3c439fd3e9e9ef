"""What the machine stands on: a work manager over either implementation, with a clock that the machine moves."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, override
from uuid import UUID, uuid4

import asyncpg

from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.infra.topics.wakeups import CoalescedWakeups
from headrace.om.audit.impl.manager import AuditManagerImpl
from headrace.om.base import utcnow
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.storage.database import Database
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.root import StorageInterface
from headrace.om.tenancy.impl.manager import TenancyManagerImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.impl.manager import WorkManagerImpl
from headrace.om.work.impl.parts import WorkParts
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl
from headrace.om.work.storage.impl.postgres import WorkStoragePostgresImpl
from om.tests.stateful.model import MAX_CRASHES

NUM_ORGS: Final = 3
TICK: Final = timedelta(microseconds=1)

SHIFT: Final = """
WITH items AS (
    UPDATE queue.work_items SET
        available_at = available_at - $1::interval, lease_expires_at = lease_expires_at - $1::interval,
        started_at = started_at - $1::interval, settled_at = settled_at - $1::interval,
        cancel_requested_at = cancel_requested_at - $1::interval
), bundles AS (
    UPDATE queue.work_bundles SET settled_at = settled_at - $1::interval
)
UPDATE queue.work_controls SET filled_at = filled_at - $1::interval
"""
"""Nobody can move the server's clock: every instant that is compared with it moves the other way."""


class Backend(ABC):
    """One implementation of the queue's storage and its clock."""

    @abstractmethod
    async def new_storage(self) -> WorkStorageInterface:
        """Return a storage without rows; what an earlier one held is gone."""
        ...

    @abstractmethod
    async def advance(self, duration: timedelta) -> None:
        """Let time pass on the database's clock."""
        ...

    @abstractmethod
    def now(self) -> datetime:
        """Return what the database's clock says."""
        ...


class MemoryBackend(Backend):
    """Memory, over a clock that stands still but for a tick at each look."""

    def __init__(self, storage: Callable[..., WorkStorageInterface] = WorkStorageMemoryImpl) -> None:
        self._storage = storage
        self._now = utcnow()

    @override
    async def new_storage(self) -> WorkStorageInterface:
        return self._storage(self.now)

    @override
    async def advance(self, duration: timedelta) -> None:
        self._now += duration

    @override
    def now(self) -> datetime:
        self._now += TICK
        return self._now


class PostgresBackend(Backend):
    """PostgreSQL; a new storage object is a new process, which remembers nothing."""

    def __init__(
        self,
        database: Database,
        admin: asyncpg.Connection,
        storage: Callable[[Database], WorkStorageInterface] = WorkStoragePostgresImpl,
    ) -> None:
        self._database = database
        self._admin = admin
        self._storage = storage

    @override
    async def new_storage(self) -> WorkStorageInterface:
        await self._admin.execute("DELETE FROM queue.work_items")
        await self._admin.execute("DELETE FROM queue.work_bundles")
        await self._admin.execute("DELETE FROM queue.work_controls")
        return self._storage(self._database)

    @override
    async def advance(self, duration: timedelta) -> None:
        await self._admin.execute(SHIFT, duration)

    @override
    def now(self) -> datetime:
        return utcnow()


@dataclass(frozen=True, slots=True)
class Ground:
    """What lasts from one example to the next: a loop, orgs with their owners, and the clock."""

    loop: asyncio.AbstractEventLoop
    backend: Backend
    tenancy: TenancyManagerImpl
    audit: AuditManagerImpl
    topics: TopicsInProcessImpl
    wakeups: CoalescedWakeups
    rctx: RequestContext
    owners: tuple[OpContext, ...]
    sweepers: dict[UUID, OpContext]

    def run[Result](self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Run it to its end."""
        return self.loop.run_until_complete(coroutine)

    def new_manager(self) -> WorkManagerImpl:
        """Return a manager over a storage without rows."""
        storage = self.run(self.backend.new_storage())
        parts = WorkParts(
            storage, self.tenancy, self.audit, self.wakeups, self.topics, lambda _: None, max_crashes=MAX_CRASHES
        )
        return WorkManagerImpl(parts)


@contextmanager
def memory_ground(storage: Callable[..., WorkStorageInterface] = WorkStorageMemoryImpl) -> Iterator[Ground]:
    """Give a ground over memory."""
    with _loop() as loop, _ground(loop, MemoryBackend(storage), StorageMemoryImpl()) as ground:
        yield ground


@contextmanager
def postgres_ground(
    options: DatabaseOptions,
    admin_dsn: str,
    storage: Callable[[Database], WorkStorageInterface] = WorkStoragePostgresImpl,
) -> Iterator[Ground]:
    """Give a ground over a migrated database, which is the machine's alone."""
    with _loop() as loop:
        database = Database(options)
        admin = loop.run_until_complete(asyncpg.connect(admin_dsn, timeout=10, command_timeout=20))
        try:
            with _ground(loop, PostgresBackend(database, admin, storage), StoragePostgresImpl(database)) as ground:
                yield ground
        finally:
            loop.run_until_complete(admin.close())
            loop.run_until_complete(database.close())


@contextmanager
def _ground(loop: asyncio.AbstractEventLoop, backend: Backend, storage: StorageInterface) -> Iterator[Ground]:
    rctx = RequestContext(app=AppContext(type=AppType.TEST, version="tests@0"))
    tenancy = TenancyManagerImpl(storage.get_tenancy_storage())
    topics = TopicsInProcessImpl()
    wakeups = CoalescedWakeups(topics, window=timedelta(0))
    loop.run_until_complete(topics.start())
    loop.run_until_complete(wakeups.start())
    try:
        owners = [
            loop.run_until_complete(
                tenancy.create_org(rctx, Org(name=f"Org {place}"), User(name="Owner", login_name=uuid4().hex))
            )
            for place in range(NUM_ORGS)
        ]
        sweepers = {ctx.org_id: ctx for ctx in loop.run_until_complete(tenancy.service_contexts(rctx))}
        audit = AuditManagerImpl(storage.get_audit_storage())
        yield Ground(loop, backend, tenancy, audit, topics, wakeups, rctx, tuple(owners), sweepers)
    finally:
        loop.run_until_complete(wakeups.close())
        loop.run_until_complete(topics.close())


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    try:
        yield loop
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
