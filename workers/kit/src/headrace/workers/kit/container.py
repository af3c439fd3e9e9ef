"""What a worker is made of, put together once: settings, storage, toolkits, managers, handlers."""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from headrace.infra.background.timing import ClockInterface, SystemClockImpl
from headrace.infra.boot import BootedProcess
from headrace.infra.boot.tracing import NoTracingImpl, TracingInterface
from headrace.om.root import Infra, ManagerOptions, Managers, build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import database_options
from headrace.om.storage.root import StorageInterface
from headrace.om.work.registry import HandlerRegistry
from headrace.workers.kit.backends import build_infra
from headrace.workers.kit.metrics import WorkerMetrics
from headrace.workers.kit.settings import WorkerSettings

type RegisterHandlers = Callable[[HandlerRegistry, Managers, Infra], None]
"""Registers a worker's handlers, each given the managers and toolkits it needs."""


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """One worker's parts. Making them opens nothing.

    Attributes:
        database: What the storage is over; None over memory.
    """

    settings: WorkerSettings
    storage: StorageInterface
    infra: Infra
    managers: Managers
    registry: HandlerRegistry
    metrics: WorkerMetrics
    tracing: TracingInterface
    clock: ClockInterface
    database: Database | None


def build_parts(
    settings: WorkerSettings, register: RegisterHandlers, booted: BootedProcess | None = None
) -> WorkerParts:
    """Return the parts over the backends that the settings name.

    Args:
        settings: The worker's.
        register: Registers its handlers.
        booted: Gives metrics and tracing their place; without it they lead nowhere.

    Raises:
        ConfigurationInvalid: An address in the settings cannot be read.
    """
    metrics = WorkerMetrics(CollectorRegistry() if booted is None else booted.registry)
    database = Database(database_options(settings))
    storage = StoragePostgresImpl(database, fair_share=settings.fair_share)
    infra = build_infra(settings, on_dead_letter=metrics.note_dead_letter)
    managers = build_managers(storage, infra, _options(settings))
    if booted is not None:
        booted.announce(storage=storage, cache=infra.cache, topics=infra.topics, secrets=infra.secrets)
    return WorkerParts(
        settings=settings,
        storage=storage,
        infra=infra,
        managers=managers,
        registry=_registered(register, managers, infra),
        metrics=metrics,
        tracing=NoTracingImpl() if booted is None else booted.tracing,
        clock=SystemClockImpl(),
        database=database,
    )


def parts_for_tests(
    settings: WorkerSettings,
    storage: StorageInterface,
    infra: Infra,
    register: RegisterHandlers,
    clock: ClockInterface | None = None,
) -> WorkerParts:
    """Return the parts over a given storage and given toolkits, with metrics of their own and no tracing."""
    managers = build_managers(storage, infra, _options(settings))
    return WorkerParts(
        settings=settings,
        storage=storage,
        infra=infra,
        managers=managers,
        registry=_registered(register, managers, infra),
        metrics=WorkerMetrics(CollectorRegistry()),
        tracing=NoTracingImpl(),
        clock=clock or SystemClockImpl(),
        database=None,
    )


def _options(settings: WorkerSettings) -> ManagerOptions:
    return ManagerOptions(
        principal_ttl=settings.principal_ttl,
        max_crashes=settings.max_crashes,
        sweep_limit=settings.sweep_limit,
        tick_limit=settings.schedule_tick_limit,
        tells_settlements=settings.settlement_messages,
    )


def _registered(register: RegisterHandlers, managers: Managers, infra: Infra) -> HandlerRegistry:
    registry = HandlerRegistry()
    register(registry, managers, infra)
    return registry
