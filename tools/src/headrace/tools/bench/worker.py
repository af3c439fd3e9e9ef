"""A worker that tells on standard output when each item's handler was entered: `item-id nanoseconds`."""

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


class TellingHandlerImpl(WorkHandlerInterface):
    """Writes when it was entered, and does nothing else."""

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:
        entered = time.time_ns()
        sys.stdout.write(f"{item.id} {entered}\n")
        sys.stdout.flush()


def _register(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
    registry.register(WorkKind.NOOP, TellingHandlerImpl())


def build_runtime(settings: BenchWorkerSettings, booted: BootedProcess) -> BackgroundRuntime[MaintenanceContext]:
    """Return the runtime of a maintenance worker whose handler tells."""
    container = WorkerContainer(build_parts(settings, _register, booted))
    return MaintenanceProcess(settings, container).build_runtime()


COMMAND = WorkerCommand("bench-worker", BenchWorkerSettings, build_runtime)

if __name__ == "__main__":
    sys.exit(worker_main(COMMAND, sys.argv[1:]))
