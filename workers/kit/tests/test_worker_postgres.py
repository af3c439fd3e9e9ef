"""What only a real PostgreSQL can show: leases behind a blocked event loop, logins, a whole life of a worker."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID, uuid4

import pytest

from headrace.infra.background.signals import ReadinessState
from headrace.om.base import FrozenMapping
from headrace.om.context import OpContext, RequestContext
from headrace.om.exceptions import Unavailable
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import database_options
from headrace.om.storage.settings import StorageSettings
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.noop import NoopPayload
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.container import RegisterHandlers, build_parts
from headrace.workers.kit.loop import open_work_loop, work_loop_tasks
from headrace.workers.kit.process import build_worker_runtime
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.testing import infra_for_tests
from headrace.workers.kit.wiring import WorkLoop
from workers.kit.tests.workbench import APP, until

if TYPE_CHECKING:
    from headrace.infra.background.runtime import WorkerTaskSpec

pytestmark = pytest.mark.servers

LEASE = timedelta(seconds=3)
SHORT_LEASE: dict[str, Any] = {
    "lease": LEASE,
    "renewal_interval": LEASE / 6,
    "database_statement_timeout": LEASE / 2.1,
}


class Context:
    """A process's context with the loop in it, as the specs want it."""

    def __init__(self, work_loop: WorkLoop) -> None:
        self.work_loop = work_loop


def worker_settings(storage: StorageSettings, **changes: Any) -> WorkerSettings:  # noqa: ANN401 - any setting
    own = {name: getattr(storage, name) for name in StorageSettings.model_fields}
    short: dict[str, Any] = {
        "environment": "test",
        "service": "kit-test",
        "capacity": 5,
        "metrics_port": 0,
    }
    return WorkerSettings(**(own | short | changes))


def handled_by(function: Callable[..., Any]) -> RegisterHandlers:
    def register(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
        registry.register(WorkKind.NOOP, function)

    return register


@asynccontextmanager
async def worker(settings: WorkerSettings, function: Callable[..., Any]) -> AsyncIterator[tuple[WorkLoop, Managers]]:
    """Run a whole worker over the database; the end of the body stops it and waits until it has drained."""
    parts, readiness, stop = build_parts(settings, handled_by(function)), ReadinessState(), asyncio.Event()
    ready: asyncio.Future[WorkLoop] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        async with open_work_loop(parts, readiness) as loop:
            ready.set_result(loop)
            yield Context(loop)

    tasks: tuple[WorkerTaskSpec[Context], ...] = work_loop_tasks(settings)
    async with asyncio.TaskGroup() as group:
        group.create_task(build_worker_runtime(settings, readiness, resources, tasks).run(stop))
        try:
            yield await ready, parts.managers
        finally:
            stop.set()


def noop(**payload: str) -> WorkItem:
    return WorkItem(kind=WorkKind.NOOP, origin="test", payload=FrozenMapping(payload))


async def new_org(managers: Managers) -> OpContext:
    owner = User(name="Owner", login_name=f"owner-{uuid4().hex[:8]}")
    return await managers.tenancy.create_org(RequestContext(app=APP), Org(name="Org"), owner)


async def until_done(managers: Managers, ctx: OpContext, item: WorkItem) -> WorkItem:
    async def is_done() -> bool:
        try:
            return (await managers.work.get_item(ctx, item.id)).status is WorkStatus.DONE
        except Unavailable:
            # A case that blocks the event loop also holds up this question, beyond the statement's deadline.
            return False

    await until(is_done, "the item is done")
    return await managers.work.get_item(ctx, item.id)


class Rival:
    """A second worker in a thread of its own, which sweeps and claims as fast as it can."""

    def __init__(self, settings: StorageSettings) -> None:
        self.claimed: list[UUID] = []
        self.num_passes = 0
        self._settings = settings
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._hunt()), name="rival", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join(10)

    async def _hunt(self) -> None:
        storage = StoragePostgresImpl(Database(database_options(self._settings)))
        managers = build_managers(storage, infra_for_tests())
        rctx = RequestContext(app=APP)
        try:
            while not self._stop.is_set():
                for ctx in await managers.work.maintenance_contexts(rctx):
                    await managers.work.requeue_stale(ctx)
                taken = await managers.work.claim_many(rctx, "default", [WorkKind.NOOP], "rival", LEASE, 10)
                self.claimed.extend(item.id for _, item in taken)
                self.num_passes += 1
        finally:
            await storage.close()


async def test_no_second_run_begins_when_a_handler_blocks_the_event_loop_beyond_its_lease(
    storage_settings: StorageSettings,
) -> None:
    runs: list[str] = []
    rivals: list[Rival] = []

    async def block(payload: NoopPayload) -> None:
        runs.append(payload.note)
        with Rival(storage_settings) as rival:
            rivals.append(rival)
            time.sleep(LEASE.total_seconds() * 2)  # noqa: ASYNC251 - the fault that this test is about

    async with worker(worker_settings(storage_settings, **SHORT_LEASE), block) as (_, managers):
        ctx = await new_org(managers)
        item = await managers.work.enqueue(ctx, noop(note="once"))
        settled = await until_done(managers, ctx, item)
    assert rivals[0].num_passes > 0
    assert (runs, rivals[0].claimed, settled.attempts, settled.crashes) == (["once"], [], 1, 0)


async def test_another_has_the_item_when_the_event_loop_is_blocked_beyond_the_limit(
    storage_settings: StorageSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "headrace.workers.kit")
    rivals: list[Rival] = []

    async def block(payload: NoopPayload) -> None:
        with Rival(storage_settings) as rival:
            rivals.append(rival)
            end = time.monotonic() + 40
            while not rival.claimed and time.monotonic() < end:
                time.sleep(0.05)  # noqa: ASYNC251 - the fault that this test is about
        assert payload.note == ""

    limits = SHORT_LEASE | {"blocked_loop_limit": LEASE, "handler_timeout": LEASE}
    async with worker(worker_settings(storage_settings, **limits), block) as (loop, managers):
        ctx = await new_org(managers)
        item = await managers.work.enqueue(ctx, noop())
        await until(lambda: rivals and loop.core.held.num_held == 0, "the worker has let go")
    assert rivals[0].claimed == [item.id]
    assert "stood still" in caplog.text


async def test_many_items_are_settled_once_each_when_a_whole_worker_runs(storage_settings: StorageSettings) -> None:
    runs: list[UUID] = []

    async def note(item: WorkItem, payload: NoopPayload) -> str:
        runs.append(item.id)
        return payload.note

    async with worker(worker_settings(storage_settings, topics_backend="postgres"), note) as (loop, managers):
        ctx = await new_org(managers)
        items = [noop() for _ in range(200)]
        await managers.work.enqueue_many(ctx, items)
        await until(lambda: len(runs) == len(items), "every item ran")
        await until(lambda: loop.core.held.num_held == 0, "every end is written")
        counts = (await managers.work.get_status(ctx)).counts
    assert [(each.status, each.num_items) for each in counts] == [(WorkStatus.DONE, 200)]
    assert sorted(runs) == sorted(item.id for item in items)


async def test_nothing_stays_claimed_when_a_whole_worker_drains(storage_settings: StorageSettings) -> None:
    started = asyncio.Event()

    async def wait(_payload: NoopPayload) -> None:
        started.set()
        await asyncio.Event().wait()

    settings = worker_settings(storage_settings, topics_backend="memory")
    async with worker(settings, wait) as (loop, managers):
        ctx = await new_org(managers)
        item = await managers.work.enqueue(ctx, noop())
        await started.wait()
    storage = StoragePostgresImpl(Database(database_options(storage_settings)))
    try:
        released = await build_managers(storage, infra_for_tests()).work.get_item(ctx, item.id)
    finally:
        await storage.close()
    assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)
    assert loop.core.held.num_held == 0
