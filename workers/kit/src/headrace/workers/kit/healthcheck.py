"""The probe of a worker process: reads its files where it writes some, else asks its port; never a server."""

import http.client
import sys
from http import HTTPStatus
from typing import Final

from headrace.infra.background.signals import FileHealthcheck
from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.settings import load_settings
from headrace.workers.kit.settings import WorkerSettings

TIMEOUT_SECONDS: Final = 3.0
_ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound


def healthcheck_main(settings: type[WorkerSettings]) -> int:
    """Probe the process whose settings these are; return 0 when it is alive, else 1 with the reasons told."""
    try:
        return probe(load_settings(settings), readiness=False)
    except ConfigurationInvalid as error:
        sys.stderr.write(f"healthcheck: {error}\n")
        return 1


def probe(settings: WorkerSettings, *, readiness: bool) -> int:
    """Return 0 when the process is well, else 1 with the reasons on standard error; see `health_problems`."""
    problems = health_problems(settings, readiness=readiness)
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


def health_problems(settings: WorkerSettings, *, readiness: bool) -> tuple[str, ...]:
    """Return why the process is not alive, or not ready; empty when it is. Never raises.

    Args:
        settings: The process's own.
        readiness: Whether to ask for readiness instead of liveness.
    """
    if settings.heartbeat_file is not None and settings.readiness_file is not None:
        probe = FileHealthcheck(
            heartbeat_path=settings.heartbeat_file,
            readiness_path=settings.readiness_file,
            max_age=settings.heartbeat_max_age,
        )
        return probe.readiness_problems() if readiness else probe.liveness_problems()
    return _asked(settings.metrics_host, settings.metrics_port, "/readyz" if readiness else "/healthz")


def _asked(host: str, port: int, path: str) -> tuple[str, ...]:
    connection = http.client.HTTPConnection(_ANY_ADDRESS.get(host, host), port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read(10_000).decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return (f"{path} on port {port} did not answer: {type(error).__name__} {error}",)
    finally:
        connection.close()
    return () if answer.status == HTTPStatus.OK else (f"{path} answered {answer.status}: {text}",)
