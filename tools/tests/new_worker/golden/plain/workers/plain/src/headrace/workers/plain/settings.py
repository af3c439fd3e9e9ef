"""The plain worker's settings."""

from typing import ClassVar

from headrace.infra.settings import MetricsPort, ServiceName
from headrace.workers.kit.settings import Lane, WorkerSettings, config_of


class PlainSettings(WorkerSettings):
    """A worker's settings, under `HEADRACE_PLAIN_`."""

    model_config = config_of("plain")

    env_scope: ClassVar[str] = "PLAIN"

    service: ServiceName = "plain"
    lane: Lane = "default"
    metrics_port: MetricsPort = 9302
