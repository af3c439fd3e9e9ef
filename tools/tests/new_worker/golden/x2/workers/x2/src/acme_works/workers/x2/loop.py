"""The tasks of the x2 worker: those of every worker."""

from acme_works.infra.background.runtime import WorkerTaskSpec
from acme_works.workers.kit.loop import HasWorkLoop, work_loop_tasks
from acme_works.workers.x2.settings import X2Settings


def worker_tasks[ContextT: HasWorkLoop](settings: X2Settings) -> tuple[WorkerTaskSpec[ContextT], ...]:
    """Return the specs of every task, in the phases in which they stop."""
    return work_loop_tasks(settings)
