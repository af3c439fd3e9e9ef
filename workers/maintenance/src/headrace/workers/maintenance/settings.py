"""The maintenance worker's settings."""

from typing import Annotated, ClassVar

from pydantic import Field

from headrace.workers.kit.settings import WorkerSettings


class MaintenanceSettings(WorkerSettings):
    """A worker's settings, under `HEADRACE_MAINTENANCE_`."""

    env_scope: ClassVar[str] = "MAINTENANCE"

    service: Annotated[str, Field(min_length=1, description="The process's name in logs, metrics and traces.")] = (
        "maintenance"
    )
    lane: Annotated[str, Field(min_length=1, max_length=100, description="The lane whose items are claimed.")] = (
        "maintenance"
    )
    metrics_port: Annotated[
        int, Field(ge=0, le=65535, description="Port of metrics and probes; 0 takes any free one.")
    ] = 9101
