"""The tasks of the plain worker: those of every worker."""

from headrace.infra.background.runtime import WorkerTaskSpec
from headrace.workers.kit.loop import HasWorkLoop, work_loop_tasks
from headrace.workers.plain.settings import PlainSettings


def worker_tasks[ContextT: HasWorkLoop](settings: PlainSettings) -> tuple[WorkerTaskSpec[ContextT], ...]:
    """Return the specs of every task, in the phases in which they stop."""
    return work_loop_tasks(settings)
