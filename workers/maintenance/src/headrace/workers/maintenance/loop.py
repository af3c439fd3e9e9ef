"""The tasks of the maintenance worker: those of every worker."""

from headrace.infra.background.runtime import WorkerTaskSpec
from headrace.workers.kit.loop import HasWorkLoop, work_loop_tasks
from headrace.workers.maintenance.settings import MaintenanceSettings


def worker_tasks[ContextT: HasWorkLoop](settings: MaintenanceSettings) -> tuple[WorkerTaskSpec[ContextT], ...]:
    """Return the specs of every task, in the phases in which they stop."""
    return work_loop_tasks(settings)
