"""The worker under test: a maintenance worker of the kit whose handler only counts.

It writes a mark (see `marks`) on standard output after every so many items; nothing else differs from a worker role.
"""

import sys
import time
from typing import Annotated, Any, ClassVar, override

from pydantic import Field

from headrace.infra.background.runtime import BackgroundRuntime
from headrace.infra.boot import BootedProcess
from headrace.om.context import OpContext
from headrace.om.root import Infra, Managers
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.command import WorkerCommand, worker_main
from headrace.workers.kit.container import build_parts
from headrace.workers.maintenance.container import WorkerContainer
from headrace.workers.maintenance.process import MaintenanceContext, MaintenanceProcess
from headrace.workers.maintenance.settings import MaintenanceSettings


class BenchWorkerSettings(MaintenanceSettings):
    """The settings under `HEADRACE_BENCH_`."""

    env_scope: ClassVar[str] = "BENCH"

    service: Annotated[str, Field(min_length=1, description="The process's name.")] = "bench"
    mark_every: Annotated[int, Field(ge=1, description="A mark is written after so many items.")] = 1
    tells_latency: Annotated[bool, Field(description="Marks say how long items took since their enqueue.")] = False


class CountingHandlerImpl(WorkHandlerInterface):
    """Counts the items that enter it, writes marks, and does nothing else.

    Args:
        mark_every: After how many items a mark is written.
    """

    def __init__(self, mark_every: int) -> None:
        self._mark_every = mark_every
        self._num_items = 0

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:
        self._num_items += 1
        if self._num_items % self._mark_every == 0:
            self._tell()

    def _tell(self, *more: int) -> None:
        sys.stdout.write(" ".join(map(str, (self._num_items, time.time_ns(), *more))) + "\n")
        sys.stdout.flush()


class TimingHandlerImpl(CountingHandlerImpl):
    """Also tells how long the items took from their enqueue, by the clock of the machine, to their handler."""

    def __init__(self, mark_every: int) -> None:
        super().__init__(mark_every)
        self._waits_us: list[int] = []

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:
        if item.created_at is not None:
            self._waits_us.append(max(0, int((time.time() - item.created_at.timestamp()) * 1e6)))
        await super().handle(ctx, item)

    @override
    def _tell(self, *more: int) -> None:
        waits = sorted(self._waits_us) or [0]
        self._waits_us.clear()
        super()._tell(waits[len(waits) // 2], waits[len(waits) * 99 // 100], *more)


def build_runtime(settings: BenchWorkerSettings, booted: BootedProcess) -> BackgroundRuntime[MaintenanceContext]:
    """Return the runtime of a maintenance worker whose handler counts."""

    def register(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
        handler = TimingHandlerImpl if settings.tells_latency else CountingHandlerImpl
        registry.register(WorkKind.NOOP, handler(settings.mark_every))

    return MaintenanceProcess(settings, WorkerContainer(build_parts(settings, register, booted))).build_runtime()


COMMAND = WorkerCommand("bench-worker", BenchWorkerSettings, build_runtime)

if __name__ == "__main__":
    sys.exit(worker_main(COMMAND, sys.argv[1:]))
