"""Traces of runs: each its own trace, linked to the one that caused it and never its child."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, override

from headrace.infra.addresses import shown_address
from headrace.infra.exceptions import ConfigurationInvalid

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Link

# Source: W3C Trace Context, level 1, "traceparent header".
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")
_EXPORT_SECONDS = 5.0

type Attributes = Mapping[str, str | int | float | bool]


class TracingInterface(ABC):
    """Where runs are traced to."""

    @abstractmethod
    def linked_span(
        self, name: str, traceparent: str | None, attributes: Attributes | None = None
    ) -> AbstractContextManager[None]:
        """A root span around the body, linked to the causing trace; an error in the body is recorded and passed on.

        Args:
            name: What runs, of few distinct values.
            traceparent: W3C traceparent of the cause. None, or one that makes no sense, gives a span without a link.
            attributes: Put on the span; ids are welcome, payloads are not.
        """
        ...

    @abstractmethod
    def current_traceparent(self) -> str | None:
        """The traceparent to hand on from here; None outside of any span and where nothing is traced."""
        ...

    @abstractmethod
    def describe(self) -> str:
        """Where traces go, for a log line."""
        ...

    @abstractmethod
    def close(self) -> None:
        """Sends what is left, within a few seconds, and ends. Safe twice."""
        ...


class NoTracingImpl(TracingInterface):
    """Traces nothing, at no cost."""

    @override
    def linked_span(
        self, name: str, traceparent: str | None, attributes: Attributes | None = None
    ) -> AbstractContextManager[None]:
        return nullcontext()

    @override
    def current_traceparent(self) -> str | None:
        return None

    @override
    def describe(self) -> str:
        return "off"

    @override
    def close(self) -> None:
        return


class OtelTracingImpl(TracingInterface):
    """Traces through the OpenTelemetry SDK, with a provider of its own.

    Args:
        exporter: Where spans go.
        resource: What the spans are of, by OpenTelemetry's attribute names.
        description: For the log line.
    """

    def __init__(self, exporter: "SpanExporter", *, resource: Mapping[str, str], description: str) -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an optional extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an optional extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an optional extra

        self._provider = TracerProvider(resource=Resource.create(dict(resource)), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("headrace")
        self._description = description

    @contextmanager
    @override
    def linked_span(self, name: str, traceparent: str | None, attributes: Attributes | None = None) -> Iterator[None]:
        from opentelemetry.context import Context  # noqa: PLC0415 - an optional extra

        # The empty context makes it a root whatever span surrounds the call.
        with self._tracer.start_as_current_span(
            name, context=Context(), links=_links(traceparent), attributes=dict(attributes or {})
        ):
            yield

    @override
    def current_traceparent(self) -> str | None:
        from opentelemetry.trace import get_current_span  # noqa: PLC0415 - an optional extra

        context = get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    @override
    def describe(self) -> str:
        return self._description

    @override
    def close(self) -> None:
        self._provider.shutdown()


def new_tracing(endpoint: str | None, *, service: str, environment: str, release: str) -> TracingInterface:
    """Tracing to an OTLP collector over HTTP, or none.

    Args:
        endpoint: The collector's base URL; None traces nothing.
        service: On every span.
        environment: On every span.
        release: On every span.

    Raises:
        ConfigurationInvalid: An endpoint is set and OpenTelemetry is not installed.
    """
    if endpoint is None:
        return NoTracingImpl()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ConfigurationInvalid(
            "HEADRACE_OTEL_ENDPOINT is set, but OpenTelemetry is not installed:"
            " install headrace-infra[tracing], or leave the variable empty"
        ) from error
    url = f"{endpoint.rstrip('/')}/v1/traces"
    resource = {"service.name": service, "service.version": release, "deployment.environment.name": environment}
    return OtelTracingImpl(
        OTLPSpanExporter(endpoint=url, timeout=_EXPORT_SECONDS),
        resource=resource,
        description=f"OTLP to {shown_address(url)}",
    )


def _links(traceparent: str | None) -> "list[Link]":
    from opentelemetry.trace import Link, SpanContext, TraceFlags  # noqa: PLC0415 - an optional extra

    match = _TRACEPARENT.match(traceparent or "")
    if match is None:
        return []
    trace_id, span_id, flags = (int(group, 16) for group in match.groups())
    return [Link(SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags)))]
