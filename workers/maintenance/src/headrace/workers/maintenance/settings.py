"""The maintenance worker's settings."""

from typing import ClassVar

from headrace.infra.settings import MetricsPort, ServiceName
from headrace.workers.kit.settings import Lane, WorkerSettings, config_of


class MaintenanceSettings(WorkerSettings):
    """A worker's settings, under `HEADRACE_MAINTENANCE_`."""

    model_config = config_of("maintenance")

    env_scope: ClassVar[str] = "MAINTENANCE"

    service: ServiceName = "maintenance"
    lane: Lane = "maintenance"
    metrics_port: MetricsPort = 9101
