"""From a worker's parts to its exit code; composed by each worker's own `process.py` and `main.py`."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from headrace.infra.background.runtime import BackgroundRuntime, RuntimeOptions, WorkerTaskSpec
from headrace.infra.background.signals import (
    FileHeartbeat,
    FileReadiness,
    HeartbeatInterface,
    ReadinessInterface,
    ReadinessState,
)
from headrace.workers.kit.loop import HasWorkLoop
from headrace.workers.kit.relations import CLOSE_TIMEOUT
from headrace.workers.kit.settings import WorkerSettings


def build_worker_runtime[ContextT: HasWorkLoop](
    settings: WorkerSettings,
    readiness: ReadinessState,
    resources: Callable[[], AbstractAsyncContextManager[ContextT]],
    tasks: Sequence[WorkerTaskSpec[ContextT]],
) -> BackgroundRuntime[ContextT]:
    """Return the runtime of a worker process, with the limits and the outside signals that the settings name.

    Args:
        settings: The worker's.
        readiness: What `/readyz` reads.
        resources: Opens the worker's context.
        tasks: The work loop's, and the worker's own where it has any.
    """
    options = RuntimeOptions(
        name=settings.service, shutdown_timeout=settings.shutdown_timeout, close_timeout=CLOSE_TIMEOUT
    )
    return BackgroundRuntime(
        resources, tasks, options, readiness=_readiness(settings, readiness), heartbeat=_heartbeat(settings)
    )


def _readiness(settings: WorkerSettings, state: ReadinessState) -> tuple[ReadinessInterface, ...]:
    return (state,) if settings.readiness_file is None else (state, FileReadiness(settings.readiness_file))


def _heartbeat(settings: WorkerSettings) -> HeartbeatInterface | None:
    return None if settings.heartbeat_file is None else FileHeartbeat(settings.heartbeat_file)
