"""The tasks of the webhook dispatcher worker: those of every worker."""

from headrace.infra.background.runtime import WorkerTaskSpec
from headrace.workers.kit.loop import HasWorkLoop, work_loop_tasks
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings


def worker_tasks[ContextT: HasWorkLoop](settings: WebhookDispatcherSettings) -> tuple[WorkerTaskSpec[ContextT], ...]:
    """Return the specs of every task, in the phases in which they stop."""
    return work_loop_tasks(settings)
