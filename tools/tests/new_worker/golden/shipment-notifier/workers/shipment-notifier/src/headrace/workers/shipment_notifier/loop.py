"""The tasks of the shipment notifier worker: those of every worker."""

from headrace.infra.background.runtime import WorkerTaskSpec
from headrace.workers.kit.loop import HasWorkLoop, work_loop_tasks
from headrace.workers.shipment_notifier.settings import ShipmentNotifierSettings


def worker_tasks[ContextT: HasWorkLoop](settings: ShipmentNotifierSettings) -> tuple[WorkerTaskSpec[ContextT], ...]:
    """Return the specs of every task, in the phases in which they stop."""
    return work_loop_tasks(settings)
