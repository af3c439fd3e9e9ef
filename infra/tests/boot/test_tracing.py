import sys
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext

from headrace.infra.boot.tracing import NoTracingImpl, OtelTracingImpl, new_tracing
from headrace.infra.exceptions import ConfigurationInvalid
from infra.tests.boot.conftest import Collector

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CAUSE = f"00-{TRACE}-{SPAN}-01"


class Traced:
    """Tracing into memory."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.tracing = OtelTracingImpl(self._exporter, resource={"service.name": "tested"}, description="memory")

    def spans(self) -> dict[str, ReadableSpan]:
        self.tracing.close()
        return {span.name: span for span in self._exporter.get_finished_spans()}


def context_of(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


@pytest.fixture
def traced() -> Iterator[Traced]:
    made = Traced()
    yield made
    made.tracing.close()


def test_a_span_is_linked_to_its_cause_and_never_its_child(traced: Traced) -> None:
    with traced.tracing.linked_span("run", CAUSE, {"org_id": "o"}):
        pass
    run = traced.spans()["run"]
    assert run.parent is None
    (link,) = run.links
    assert f"{link.context.trace_id:032x}-{link.context.span_id:016x}" == f"{TRACE}-{SPAN}"
    assert context_of(run).trace_id != link.context.trace_id
    assert run.attributes is not None
    assert run.attributes["org_id"] == "o"


def test_a_span_is_a_root_also_inside_another(traced: Traced) -> None:
    with traced.tracing.linked_span("outer", None), traced.tracing.linked_span("inner", CAUSE):
        pass
    spans = traced.spans()
    assert spans["inner"].parent is None
    assert context_of(spans["inner"]).trace_id != context_of(spans["outer"]).trace_id


@pytest.mark.parametrize(
    "traceparent",
    [None, "", "nonsense", f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01"],
)
def test_a_cause_that_makes_no_sense_gives_a_span_without_a_link(traced: Traced, traceparent: str | None) -> None:
    with traced.tracing.linked_span("run", traceparent):
        pass
    assert list(traced.spans()["run"].links) == []


def test_an_error_in_the_body_is_recorded_and_passed_on(traced: Traced) -> None:
    with pytest.raises(ValueError, match="broken"), traced.tracing.linked_span("run", None):
        raise ValueError("broken")
    assert not traced.spans()["run"].status.is_ok


def test_the_traceparent_to_hand_on_is_the_run_s_own(traced: Traced) -> None:
    assert traced.tracing.current_traceparent() is None
    with traced.tracing.linked_span("run", CAUSE):
        handed_on = traced.tracing.current_traceparent()
    context = context_of(traced.spans()["run"])
    assert handed_on is not None
    assert handed_on.startswith(f"00-{context.trace_id:032x}-{context.span_id:016x}-")


def test_nothing_is_traced_without_an_endpoint() -> None:
    tracing = new_tracing(None, service="tested", environment="test", release="r1")
    assert isinstance(tracing, NoTracingImpl)
    with tracing.linked_span("run", CAUSE):
        assert tracing.current_traceparent() is None
    assert tracing.describe() == "off"
    tracing.close()


def test_spans_reach_a_collector_by_the_time_tracing_is_closed(collector: Collector) -> None:
    endpoint = f"http://{collector.address}/"
    tracing = new_tracing(endpoint, service="tested", environment="test", release="r1")
    with tracing.linked_span("run", CAUSE):
        pass
    tracing.close()
    path, body = collector.posts.get(timeout=20)
    (sent,) = ExportTraceServiceRequest.FromString(body).resource_spans
    attributes = {pair.key: pair.value.string_value for pair in sent.resource.attributes}
    assert path == "/v1/traces"
    assert attributes["service.name"] == "tested"
    assert sent.scope_spans[0].spans[0].links[0].span_id.hex() == SPAN
    assert tracing.describe() == f"OTLP to {endpoint}v1/traces"


def test_no_credential_of_the_endpoint_is_shown() -> None:
    endpoint = "http://user:secret@127.0.0.1:4318"
    tracing = new_tracing(endpoint, service="tested", environment="test", release="r1")
    tracing.close()
    assert tracing.describe() == "OTLP to http://127.0.0.1:4318/v1/traces"


def test_an_endpoint_without_the_extra_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigurationInvalid, match=r"HEADRACE_OTEL_ENDPOINT is set.*headrace-infra\[tracing\]"):
        new_tracing("http://127.0.0.1:4318", service="tested", environment="test", release="r1")
