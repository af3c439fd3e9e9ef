"""The x2 worker put together."""

from dataclasses import dataclass
from typing import Self

from acme_works.infra.boot import BootedProcess
from acme_works.om.root import Infra, Managers
from acme_works.om.storage.root import StorageInterface
from acme_works.om.work.registry import HandlerRegistry
from acme_works.om.work.types.kinds import WorkKind
from acme_works.workers.kit.container import WorkerParts, build_parts, parts_for_tests
from acme_works.workers.kit.testing import settings_for_tests
from acme_works.workers.x2.handler import Http2PingHandlerImpl
from acme_works.workers.x2.settings import X2Settings


@dataclass(frozen=True, slots=True)
class WorkerContainer:
    """The worker's parts; making them opens nothing."""

    parts: WorkerParts

    @classmethod
    def build(cls, settings: X2Settings, booted: BootedProcess | None = None) -> Self:
        """Return the worker over the backends that its settings name.

        Raises:
            ConfigurationInvalid: An address in the settings cannot be read.
        """
        return cls(build_parts(settings, _register, booted))

    @classmethod
    def for_tests(cls, storage: StorageInterface, infra: Infra, *, settings: X2Settings | None = None) -> Self:
        """Return the worker over a given storage and given toolkits; with settings for tests when none are given."""
        chosen = settings or settings_for_tests(X2Settings)
        return cls(parts_for_tests(chosen, storage, infra, _register))


def _register(registry: HandlerRegistry, managers: Managers, _infra: Infra) -> None:
    registry.register(WorkKind.HTTP2_PING, Http2PingHandlerImpl(managers.audit))
