"""The worker's `.env.example`, as `make env-example` would write it once the worker's settings class is there."""

from typing import ClassVar

from pydantic import create_model

from headrace.infra.settings import MetricsPort, ServiceName
from headrace.tools.env_example.render import render_own
from headrace.tools.new_worker.request import WorkerRequest
from headrace.workers.kit.settings import Lane, WorkerSettings


def env_file(request: WorkerRequest) -> str:
    """Return the file's text."""

    class Scoped(WorkerSettings):
        env_scope: ClassVar[str] = request.worker.upper()

    own = create_model(
        "Settings",
        __base__=Scoped,
        service=(ServiceName, request.worker_name),
        lane=(Lane, request.lane),
        metrics_port=(MetricsPort, request.metrics_port),
    )
    return render_own(request.worker_name, own)
