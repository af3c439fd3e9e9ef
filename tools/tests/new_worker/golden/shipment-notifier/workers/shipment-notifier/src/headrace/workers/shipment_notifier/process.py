"""The process of the shipment notifier worker: its resources and its runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headrace.infra.background.runtime import BackgroundRuntime, WorkerTaskSpec
from headrace.infra.background.signals import ReadinessState
from headrace.om.root import Managers
from headrace.workers.kit.loop import open_work_loop
from headrace.workers.kit.process import build_worker_runtime
from headrace.workers.kit.wiring import WorkLoop
from headrace.workers.shipment_notifier.container import WorkerContainer
from headrace.workers.shipment_notifier.loop import worker_tasks
from headrace.workers.shipment_notifier.settings import ShipmentNotifierSettings


@dataclass(frozen=True, slots=True)
class ShipmentNotifierContext:
    """What the worker's tasks work with, open and ready."""

    managers: Managers
    work_loop: WorkLoop


class ShipmentNotifierProcess:
    """One run of the worker.

    Args:
        settings: The worker's.
        container: Its parts.
    """

    def __init__(self, settings: ShipmentNotifierSettings, container: WorkerContainer) -> None:
        self._settings = settings
        self._parts = container.parts
        self._readiness = ReadinessState()

    def build_runtime(self) -> BackgroundRuntime[ShipmentNotifierContext]:
        """Return the runtime, to be run once."""
        tasks: tuple[WorkerTaskSpec[ShipmentNotifierContext], ...] = worker_tasks(self._settings)
        return build_worker_runtime(self._settings, self._readiness, self.resources, tasks)

    @asynccontextmanager
    async def resources(self) -> AsyncIterator[ShipmentNotifierContext]:
        """Open what the tasks need and close it again; see `open_work_loop`."""
        async with open_work_loop(self._parts, self._readiness) as work_loop:
            yield ShipmentNotifierContext(self._parts.managers, work_loop)
