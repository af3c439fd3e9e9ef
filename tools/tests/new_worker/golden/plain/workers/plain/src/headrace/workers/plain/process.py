"""The process of the plain worker: its resources and its runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headrace.infra.background.runtime import BackgroundRuntime, WorkerTaskSpec
from headrace.infra.background.signals import ReadinessState
from headrace.om.root import Managers
from headrace.workers.kit.loop import open_work_loop
from headrace.workers.kit.process import build_worker_runtime
from headrace.workers.kit.wiring import WorkLoop
from headrace.workers.plain.container import WorkerContainer
from headrace.workers.plain.loop import worker_tasks
from headrace.workers.plain.settings import PlainSettings


@dataclass(frozen=True, slots=True)
class PlainContext:
    """What the worker's tasks work with, open and ready."""

    managers: Managers
    work_loop: WorkLoop


class PlainProcess:
    """One run of the worker.

    Args:
        settings: The worker's.
        container: Its parts.
    """

    def __init__(self, settings: PlainSettings, container: WorkerContainer) -> None:
        self._settings = settings
        self._parts = container.parts
        self._readiness = ReadinessState()

    def build_runtime(self) -> BackgroundRuntime[PlainContext]:
        """Return the runtime, to be run once."""
        tasks: tuple[WorkerTaskSpec[PlainContext], ...] = worker_tasks(self._settings)
        return build_worker_runtime(self._settings, self._readiness, self.resources, tasks)

    @asynccontextmanager
    async def resources(self) -> AsyncIterator[PlainContext]:
        """Open what the tasks need and close it again; see `open_work_loop`."""
        async with open_work_loop(self._parts, self._readiness) as work_loop:
            yield PlainContext(self._parts.managers, work_loop)
