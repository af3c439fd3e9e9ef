"""Booting a process: everything that must be in place before its first line of work."""

import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from headrace.infra.boot.errors import report_errors
from headrace.infra.boot.logs import configure_logging
from headrace.infra.boot.tracing import TracingInterface, new_tracing
from headrace.infra.boot.trust import use_system_trust_store

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from headrace.infra.settings import ProcessSettings

_logger = logging.getLogger(__name__)


class DescribesItself(Protocol):
    """A backend that can be named in a log line."""

    def describe(self) -> str:
        """What it is and where it leads, without a secret."""
        ...


@dataclass(frozen=True, slots=True)
class BootedProcess:
    """What a booted process works with; a context manager that closes it.

    Attributes:
        registry: Where metrics are registered and what `/metrics` shows.
        tracing: Gives the runs' spans.
        parts: What boot itself has put in place, by name.
    """

    registry: "CollectorRegistry"
    tracing: TracingInterface
    parts: dict[str, str]
    _closing: ExitStack = field(default_factory=ExitStack, repr=False)

    def announce(self, **backends: DescribesItself) -> None:
        """Logs one line that names every backend of the process, those of boot included."""
        named = {**{name: backend.describe() for name, backend in backends.items()}, **self.parts}
        _logger.info("backends: %s", ", ".join(f"{name}={text}" for name, text in named.items()))

    def close(self) -> None:
        """Sends the spans and error reports that are left and takes logging back, in that order. Safe twice."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def boot(settings: "ProcessSettings") -> BootedProcess:
    """Sets up logging, trust store, error reporting, metrics and tracing.

    Call it once, before anything that logs or connects. What fails half way is undone.

    Raises:
        ConfigurationInvalid: Local-only backends in staging or production, or a setting asks for an extra that is not
            installed.
    """
    # Here, because importing this module must not cost what pydantic and prometheus-client do.
    from headrace.infra.boot.metrics import new_registry  # noqa: PLC0415 - see above
    from headrace.infra.settings import misspelt_variables, refuse_local_backends  # noqa: PLC0415 - see above

    refuse_local_backends(settings)
    names = {"environment": settings.environment, "release": settings.release}
    with ExitStack() as undo:
        style = settings.effective_log_format
        undo.callback(
            configure_logging(
                service=settings.service, environment=settings.environment, level=settings.log_level, style=style
            )
        )
        for variable, meant in misspelt_variables(type(settings)).items():
            _logger.warning("%s is read by nothing; was %s meant?", variable, meant)
        trust, forget_trust = use_system_trust_store()
        undo.callback(forget_trust)
        errors = report_errors(settings.sentry_dsn, **names)
        undo.callback(errors.close)
        tracing = new_tracing(settings.otel_endpoint, service=settings.service, **names)
        undo.callback(tracing.close)
        parts = {"logs": style, "trust": trust, "errors": errors.description, "tracing": tracing.describe()}
        return BootedProcess(new_registry(service=settings.service, **names), tracing, parts, undo.pop_all())
