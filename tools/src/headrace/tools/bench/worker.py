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
            sys.stdout.write(f"{self._num_items} {time.time_ns()}\n")
            sys.stdout.flush()


def build_runtime(settings: BenchWorkerSettings, booted: BootedProcess) -> BackgroundRuntime[MaintenanceContext]:
    """Return the runtime of a maintenance worker whose handler counts."""

    def register(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
        registry.register(WorkKind.NOOP, CountingHandlerImpl(settings.mark_every))

    return MaintenanceProcess(settings, WorkerContainer(build_parts(settings, register, booted))).build_runtime()


COMMAND = WorkerCommand("bench-worker", BenchWorkerSettings, build_runtime)

if __name__ == "__main__":
    sys.exit(worker_main(COMMAND, sys.argv[1:]))
