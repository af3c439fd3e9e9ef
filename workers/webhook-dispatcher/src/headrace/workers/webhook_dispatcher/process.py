"""The process of the webhook dispatcher worker: its resources and its runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headrace.infra.background.runtime import BackgroundRuntime, WorkerTaskSpec
from headrace.infra.background.signals import ReadinessState
from headrace.om.root import Managers
from headrace.workers.kit.loop import open_work_loop
from headrace.workers.kit.process import build_worker_runtime
from headrace.workers.kit.wiring import WorkLoop
from headrace.workers.webhook_dispatcher.container import WorkerContainer
from headrace.workers.webhook_dispatcher.loop import worker_tasks
from headrace.workers.webhook_dispatcher.settings import WebhookDispatcherSettings


@dataclass(frozen=True, slots=True)
class WebhookDispatcherContext:
    """What the worker's tasks work with, open and ready."""

    managers: Managers
    work_loop: WorkLoop


class WebhookDispatcherProcess:
    """One run of the worker.

    Args:
        settings: The worker's.
        container: Its parts.
    """

    def __init__(self, settings: WebhookDispatcherSettings, container: WorkerContainer) -> None:
        self._settings = settings
        self._container = container
        self._readiness = ReadinessState()

    def build_runtime(self) -> BackgroundRuntime[WebhookDispatcherContext]:
        """Return the runtime, to be run once."""
        tasks: tuple[WorkerTaskSpec[WebhookDispatcherContext], ...] = worker_tasks(self._settings)
        return build_worker_runtime(self._settings, self._readiness, self.resources, tasks)

    @asynccontextmanager
    async def resources(self) -> AsyncIterator[WebhookDispatcherContext]:
        """Open what the tasks need and close it again; see `open_work_loop`."""
        parts = self._container.parts
        async with self._container.poster, open_work_loop(parts, self._readiness) as work_loop:
            yield WebhookDispatcherContext(parts.managers, work_loop)
