"""One worker over memory, with a queue whose faults a test switches on, and waits for states."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, override
from uuid import UUID

from headrace.infra.background.signals import ReadinessState
from headrace.infra.background.timing import ClockInterface, ManualClockImpl
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.exceptions import PlatformException, Unavailable, ValidationFailed
from headrace.om.root import Infra, Managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow
from headrace.om.work.types.schedule import DueSchedule
from headrace.om.work.types.settlement import Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.container import WorkerParts, parts_for_tests
from headrace.workers.kit.server import MetricsServerTask, probe_server
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.testing import infra_for_tests, settings_for_tests
from headrace.workers.kit.wiring import WorkLoop, build_core, build_work_loop

APP = AppContext(type=AppType.TEST, version="test")
PATIENCE = 10.0
"""Seconds after which a state that does not come is a failure."""


class Fault:
    """Makes one kind of statement fail or wait, for as long as the test wants."""

    def __init__(self) -> None:
        self.error: PlatformException | None = None
        self.open = asyncio.Event()
        self.open.set()
        self.reached = asyncio.Event()
        self.num_calls = 0

    async def met(self) -> None:
        self.num_calls += 1
        self.reached.set()
        await self.open.wait()
        if self.error is not None:
            raise self.error

    @contextmanager
    def failing(self, error: PlatformException | None = None) -> Iterator[None]:
        self.error = error or Unavailable("the test says so")
        try:
            yield
        finally:
            self.error = None

    @contextmanager
    def hanging(self) -> Iterator[None]:
        self.reached.clear()
        self.open.clear()
        try:
            yield
        finally:
            self.open.set()


class FaultyWorkStorage(WorkStorageMemoryImpl):
    """The queue over memory, with a fault in front of each kind of control statement."""

    def __init__(self) -> None:
        super().__init__()
        self.claims, self.answers, self.renewals, self.settlements = Fault(), Fault(), Fault(), Fault()
        self.settled = Fault()
        """Met after settlements were written: their answer is lost."""
        self.schedules = Fault()
        self.refuses: set[UUID] = set()
        """Items whose settlement no try can write."""
        self.stuck: set[UUID] = set()
        """Orgs whose stale items no try can requeue."""

    @override
    async def claim_batch(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int
    ) -> tuple[ClaimedRow, ...]:
        await self.claims.met()
        rows = await super().claim_batch(lane, kinds, worker_id, lease, limit)
        await self.answers.met()
        return rows

    @override
    async def extend_leases(self, renewals: Sequence[tuple[UUID, Renewal]], lease: timedelta) -> tuple[Renewed, ...]:
        await self.renewals.met()
        return await super().extend_leases(renewals, lease)

    @override
    async def settle_batch(self, settlements: Sequence[tuple[UUID, Settlement]]) -> tuple[Settled, ...]:
        await self.settlements.met()
        if self.refuses & {settlement.item_id for _, settlement in settlements}:
            raise ValidationFailed("value", "something storable")
        settled = await super().settle_batch(settlements)
        await self.settled.met()
        return settled

    @override
    async def read_due_schedules(self, limit: int) -> tuple[DueSchedule, ...]:
        await self.schedules.met()
        return await super().read_due_schedules(limit)

    @override
    async def requeue_stale(
        self, org_id: UUID, overdue: timedelta, limit: int, *, max_crashes: int
    ) -> tuple[WorkItem, ...]:
        if org_id in self.stuck:
            raise Unavailable("a lock is held")
        return await super().requeue_stale(org_id, overdue, limit, max_crashes=max_crashes)


class FaultyStorage(StorageMemoryImpl):
    """All of memory, with the faulty queue in it."""

    def __init__(self) -> None:
        super().__init__()
        self.work = FaultyWorkStorage()

    @override
    def get_work_storage(self) -> WorkStorageInterface:
        return self.work


@dataclass
class Doing:
    """A handler that tells what it is given and does what the test says."""

    act: Callable[[OpContext, WorkItem], Any] | None = None
    items: list[WorkItem] = field(default_factory=list)
    gate: asyncio.Event | None = None

    @property
    def num_started(self) -> int:
        return len(self.items)


class DoingHandler(WorkHandlerInterface):
    def __init__(self, doing: Doing) -> None:
        self._doing = doing

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:
        self._doing.items.append(item)
        if self._doing.gate is not None:
            await self._doing.gate.wait()
        result = self._doing.act(ctx, item) if self._doing.act is not None else None
        return await result if asyncio.iscoroutine(result) else result


class Bench:
    """A worker's parts and loop, an org with work for it, and a switch for each of its tasks."""

    def __init__(
        self, parts: WorkerParts, storage: FaultyStorage, loop: WorkLoop, doing: Doing, ctx: OpContext
    ) -> None:
        self.parts = parts
        self.storage = storage
        self.loop = loop
        self.doing = doing
        self.ctx = ctx

    @property
    def managers(self) -> Managers:
        return self.parts.managers

    async def enqueue(self, num: int = 1, **fields: Any) -> list[WorkItem]:  # noqa: ANN401 - any field of an item
        return [await self.managers.work.enqueue(self.ctx, self.item(**fields)) for _ in range(num)]

    @staticmethod
    def item(**fields: Any) -> WorkItem:  # noqa: ANN401 - any field of an item
        return WorkItem(**({"kind": WorkKind.NOOP, "origin": "test", "lane": "default"} | fields))

    async def read(self, item: WorkItem) -> WorkItem:
        return await self.managers.work.get_item(self.ctx, item.id)

    async def until_status(self, item: WorkItem, status: WorkStatus) -> WorkItem:
        async def stands() -> bool:
            return (await self.read(item)).status is status

        await until(stands, f"item is {status}")
        return await self.read(item)

    def count(self, metric: str, **labels: str) -> float:
        """Read a metric of this worker; kinds are NOOP unless the test says otherwise."""
        return self.parts.metrics.registry.get_sample_value(metric, {"kind": "NOOP"} | labels) or 0.0

    async def steal(self, item: WorkItem) -> None:
        """Let a claim end as a passed lease does: another token holds the item from now on."""
        rows = self.storage.work._table.rows  # noqa: SLF001 - the test plays the database's clock
        stale = rows[self.ctx.org_id, item.id]
        rows[self.ctx.org_id, item.id] = stale.model_copy(update={"claim_token": UUID(int=7)})

    @asynccontextmanager
    async def running(self, *names: str) -> AsyncIterator["Running"]:
        """Run some of the loop's tasks; the body's end stops them in the order of their names."""
        async with asyncio.timeout(PATIENCE * 3), asyncio.TaskGroup() as group:
            running = Running(self.loop, names, group)
            try:
                yield running
            finally:
                await running.stop()


class Running:
    def __init__(self, loop: WorkLoop, names: Sequence[str], group: asyncio.TaskGroup) -> None:
        self.stops = {name: asyncio.Event() for name in names}
        self.tasks = {name: group.create_task(getattr(loop, name).run(self.stops[name]), name=name) for name in names}

    async def stop(self, *names: str) -> None:
        for name in names or tuple(self.tasks):
            self.stops[name].set()
            await asyncio.wait([self.tasks[name]])


@asynccontextmanager
async def bench(
    doing: Doing | None = None,
    *,
    clock: ClockInterface | None = None,
    infra: Infra | None = None,
    register: Callable[[HandlerRegistry], None] | None = None,
    is_started: bool = True,
    **changes: Any,  # noqa: ANN401 - any setting
) -> AsyncIterator[Bench]:
    """A worker that claims NOOP items from memory; its toolkits are started unless the test wants them cut."""
    doing = doing or Doing()
    handler = DoingHandler(doing)
    storage, infra = FaultyStorage(), infra or infra_for_tests()

    def registered(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
        if register is None:
            registry.register(WorkKind.NOOP, handler)
        else:
            register(registry)

    settings = settings_for_tests(WorkerSettings, **({"poll_interval": "1h", "poll_age_limit": "3h"} | changes))
    parts = parts_for_tests(settings, storage, infra, registered, clock)
    core = build_core(parts)
    server = probe_server(core, ReadinessState(), host="127.0.0.1", port=0)
    loop = build_work_loop(parts, core, MetricsServerTask(server))
    async with AsyncExitStack() as stack:
        if is_started:
            stack.push_async_callback(infra.close)
            await infra.start()
        org, owner = Org(name="Org"), User(name="Owner", login_name="owner")
        ctx = await parts.managers.tenancy.create_org(RequestContext(app=APP), org, owner)
        yield Bench(parts, storage, loop, doing, ctx)


async def passes(clock: ManualClockImpl, by: timedelta, *, waiting: int = 1) -> None:
    """Move the clock, let whoever waited for that run, and return once so many wait again."""
    clock.advance(by)
    for _ in range(50):
        await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await clock.until_waiting(waiting)


async def until(holds: Callable[[], Any], what: str) -> None:
    """Wait until a predicate, plain or async, holds."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await _asked(holds):  # noqa: ASYNC110 - states of every kind, few with an event
                await asyncio.sleep(0.002)
    except TimeoutError as error:
        raise AssertionError(f"never came: {what}") from error


async def _asked(holds: Callable[[], Any]) -> bool:
    answer = holds()
    return bool(await answer if asyncio.iscoroutine(answer) else answer)
