"""The process of the x2 worker: its resources and its runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from acme_works.infra.background.runtime import BackgroundRuntime, WorkerTaskSpec
from acme_works.infra.background.signals import ReadinessState
from acme_works.om.root import Managers
from acme_works.workers.kit.loop import open_work_loop
from acme_works.workers.kit.process import build_worker_runtime
from acme_works.workers.kit.wiring import WorkLoop
from acme_works.workers.x2.container import WorkerContainer
from acme_works.workers.x2.loop import worker_tasks
from acme_works.workers.x2.settings import X2Settings


@dataclass(frozen=True, slots=True)
class X2Context:
    """What the worker's tasks work with, open and ready."""

    managers: Managers
    work_loop: WorkLoop


class X2Process:
    """One run of the worker.

    Args:
        settings: The worker's.
        container: Its parts.
    """

    def __init__(self, settings: X2Settings, container: WorkerContainer) -> None:
        self._settings = settings
        self._parts = container.parts
        self._readiness = ReadinessState()

    def build_runtime(self) -> BackgroundRuntime[X2Context]:
        """Return the runtime, to be run once."""
        tasks: tuple[WorkerTaskSpec[X2Context], ...] = worker_tasks(self._settings)
        return build_worker_runtime(self._settings, self._readiness, self.resources, tasks)

    @asynccontextmanager
    async def resources(self) -> AsyncIterator[X2Context]:
        """Open what the tasks need and close it again; see `open_work_loop`."""
        async with open_work_loop(self._parts, self._readiness) as work_loop:
            yield X2Context(self._parts.managers, work_loop)
