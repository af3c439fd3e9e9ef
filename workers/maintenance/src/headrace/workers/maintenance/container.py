"""The maintenance worker put together."""

from dataclasses import dataclass
from typing import Self

from headrace.infra.boot import BootedProcess
from headrace.om.root import Infra, Managers
from headrace.om.storage.root import StorageInterface
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.container import WorkerParts, build_parts, parts_for_tests
from headrace.workers.kit.testing import settings_for_tests
from headrace.workers.maintenance.handler import NoopHandlerImpl
from headrace.workers.maintenance.settings import MaintenanceSettings


@dataclass(frozen=True, slots=True)
class WorkerContainer:
    """The worker's parts; making them opens nothing."""

    parts: WorkerParts

    @classmethod
    def build(cls, settings: MaintenanceSettings, booted: BootedProcess | None = None) -> Self:
        """Return the worker over the backends that its settings name.

        Raises:
            ConfigurationInvalid: An address in the settings cannot be read.
        """
        return cls(build_parts(settings, _register, booted))

    @classmethod
    def for_tests(cls, storage: StorageInterface, infra: Infra) -> Self:
        """Return the worker over a given storage and given toolkits."""
        return cls(parts_for_tests(settings_for_tests(MaintenanceSettings), storage, infra, _register))


def _register(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
    registry.register(WorkKind.NOOP, NoopHandlerImpl())
