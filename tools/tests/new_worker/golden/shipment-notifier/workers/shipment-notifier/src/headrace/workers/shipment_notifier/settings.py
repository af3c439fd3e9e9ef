"""The shipment notifier worker's settings."""

from typing import ClassVar

from headrace.infra.settings import MetricsPort, ServiceName
from headrace.workers.kit.settings import Lane, WorkerSettings, config_of


class ShipmentNotifierSettings(WorkerSettings):
    """A worker's settings, under `HEADRACE_SHIPMENT_NOTIFIER_`."""

    model_config = config_of("shipment-notifier")

    env_scope: ClassVar[str] = "SHIPMENT_NOTIFIER"

    service: ServiceName = "shipment-notifier"
    lane: Lane = "default"
    metrics_port: MetricsPort = 9300
