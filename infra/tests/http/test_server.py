import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter

from headrace.infra.background.runtime import BackgroundRuntime, RuntimeOptions, WorkerTaskSpec
from headrace.infra.background.signals import ReadinessState
from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.http.app import create_probe_app
from headrace.infra.http.server import EmbeddedServer

BOUND = 20.0


def app(*, problems: tuple[str, ...] = (), ready: Callable[[], tuple[str, ...]] = tuple) -> FastAPI:
    registry = CollectorRegistry()
    Counter("claims", "Claims made.", registry=registry).inc(3)
    return create_probe_app(registry=registry, health=lambda: problems, ready=ready)


def server(**what: object) -> EmbeddedServer:
    return EmbeddedServer(app(**what), host="127.0.0.1", port=0)  # type: ignore[arg-type]  # passed on as given


@asynccontextmanager
async def served(embedded: EmbeddedServer) -> AsyncIterator[httpx.AsyncClient]:
    stop = asyncio.Event()
    with embedded:
        async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
            group.create_task(embedded.run(stop))
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{embedded.port}", trust_env=False) as client:
                yield client
            stop.set()


async def test_metrics_show_the_registry() -> None:
    async with served(server()) as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "claims_total 3.0" in answer.text


async def test_health_is_200_without_problems() -> None:
    async with served(server()) as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_health_is_503_and_names_what_is_wrong() -> None:
    async with served(server(problems=("3 beats failed",))) as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "unavailable", "problems": ["3 beats failed"]})


async def test_readiness_follows_the_state_that_is_handed_in() -> None:
    state = ReadinessState()
    async with served(server(ready=state.problems)) as client:
        before = await client.get("/readyz")
        state.mark_ready()
        after = await client.get("/readyz")
    assert (before.status_code, after.status_code) == (503, 200)


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json", "/healthz/x"])
async def test_nothing_else_is_served(path: str) -> None:
    async with served(server()) as client:
        assert (await client.get(path)).status_code == 404


def test_the_routes_are_exactly_three() -> None:
    assert {getattr(route, "path", None) for route in app().routes} == {"/metrics", "/healthz", "/readyz"}


async def test_a_taken_port_is_refused_in_a_sentence() -> None:
    with server() as first, pytest.raises(ConfigurationInvalid, match=rf"port {first.port}.*HEADRACE_METRICS_PORT"):
        EmbeddedServer(app(), host="127.0.0.1", port=first.port).bind()


async def test_the_port_is_free_again_after_the_stop() -> None:
    embedded = server()
    async with served(embedded):
        taken = embedded.port
    with EmbeddedServer(app(), host="127.0.0.1", port=taken) as next_one:
        assert next_one.port == taken


async def test_a_cancelled_server_lets_go_of_its_port_and_connections() -> None:
    embedded = server()
    port = embedded.bind()
    running = asyncio.create_task(embedded.run(asyncio.Event()))
    async with asyncio.timeout(BOUND):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: probe\r\n\r\n")
        assert b"200 OK" in await reader.readline()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert embedded.port == 0
        await reader.read()
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)


async def test_the_process_s_signal_handlers_are_left_alone() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)]
    async with served(server()) as client:
        await client.get("/healthz")
        assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)] == before


async def test_it_serves_as_the_last_task_of_a_runtime() -> None:
    stop, statuses = asyncio.Event(), list[int]()

    @asynccontextmanager
    async def resources() -> AsyncIterator[EmbeddedServer]:
        with server() as embedded:
            yield embedded

    async def probe(embedded: EmbeddedServer, own_stop: asyncio.Event) -> None:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{embedded.port}", trust_env=False) as client:
            stop.set()
            await own_stop.wait()
            statuses.append((await client.get("/healthz")).status_code)

    tasks = [
        WorkerTaskSpec("metrics-server", EmbeddedServer.run, stop_phase=1),
        WorkerTaskSpec("probe", probe),
    ]
    async with asyncio.timeout(BOUND):
        await BackgroundRuntime(resources, tasks, RuntimeOptions("served")).run(stop)
    assert statuses == [200]
