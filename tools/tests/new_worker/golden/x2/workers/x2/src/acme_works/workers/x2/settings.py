"""The x2 worker's settings."""

from typing import ClassVar

from acme_works.infra.settings import MetricsPort, ServiceName
from acme_works.workers.kit.settings import Lane, WorkerSettings, config_of


class X2Settings(WorkerSettings):
    """A worker's settings, under `ACME_WORKS_X2_`."""

    model_config = config_of("x2")

    env_scope: ClassVar[str] = "X2"

    service: ServiceName = "x2"
    lane: Lane = "bulk.slow"
    metrics_port: MetricsPort = 9301
