"""The shipment notifier worker put together."""

from dataclasses import dataclass
from typing import Self

from headrace.infra.boot import BootedProcess
from headrace.om.root import Infra, Managers
from headrace.om.storage.root import StorageInterface
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.container import WorkerParts, build_parts, parts_for_tests
from headrace.workers.kit.testing import settings_for_tests
from headrace.workers.shipment_notifier.handler import NotifyShipmentHandlerImpl
from headrace.workers.shipment_notifier.settings import ShipmentNotifierSettings


@dataclass(frozen=True, slots=True)
class WorkerContainer:
    """The worker's parts; making them opens nothing."""

    parts: WorkerParts

    @classmethod
    def build(cls, settings: ShipmentNotifierSettings, booted: BootedProcess | None = None) -> Self:
        """Return the worker over the backends that its settings name.

        Raises:
            ConfigurationInvalid: An address in the settings cannot be read.
        """
        return cls(build_parts(settings, _register, booted))

    @classmethod
    def for_tests(
        cls, storage: StorageInterface, infra: Infra, *, settings: ShipmentNotifierSettings | None = None
    ) -> Self:
        """Return the worker over a given storage and given toolkits; with settings for tests when none are given."""
        chosen = settings or settings_for_tests(ShipmentNotifierSettings)
        return cls(parts_for_tests(chosen, storage, infra, _register))


def _register(registry: HandlerRegistry, managers: Managers, _infra: Infra) -> None:
    registry.register(WorkKind.NOTIFY_SHIPMENT, NotifyShipmentHandlerImpl(managers.audit))
