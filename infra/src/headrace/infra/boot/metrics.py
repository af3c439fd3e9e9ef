"""The process's own metrics registry."""

from prometheus_client import CollectorRegistry, Gauge, PlatformCollector, ProcessCollector


def new_registry(*, service: str, environment: str, release: str) -> CollectorRegistry:
    """A registry with the process's memory, CPU and files, and one sample that tells which release runs.

    It is not prometheus-client's global one, so that two processes' worth of metrics fit in one test.
    """
    registry = CollectorRegistry(auto_describe=True)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    info = Gauge(
        "headrace_process_info",
        "1, labelled with what runs.",
        ("service", "environment", "release"),
        registry=registry,
    )
    info.labels(service, environment, release).set(1)
    return registry
