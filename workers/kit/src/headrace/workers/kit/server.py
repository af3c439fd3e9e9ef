"""The worker's own port: `/metrics`, `/healthz` and `/readyz`, from memory."""

import asyncio
from datetime import timedelta
from functools import partial

from headrace.infra.background.signals import ReadinessState
from headrace.infra.http.app import create_probe_app
from headrace.infra.http.server import EmbeddedServer
from headrace.infra.topics import TopicsInterface
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.health import LoopState


class MetricsServerTask:
    """Serves the port that its server holds."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server

    @property
    def port(self) -> int:
        """The bound port."""
        return self._server.port

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set."""
        await self._server.run(stop)


def probe_server(core: LoopCore, readiness: ReadinessState, *, host: str, port: int) -> EmbeddedServer:
    """Return the server of the worker's port; nothing is bound yet."""
    app = create_probe_app(registry=core.metrics.registry, health=core.state.problems, ready=readiness.problems)
    return EmbeddedServer(app, host=host, port=port)


def watch_worker(core: LoopCore, topics: TopicsInterface, *, capacity: int) -> None:
    """Show the worker's own numbers at each scrape; ages are in seconds, -1 where there is none yet."""
    metrics, held, state = core.metrics, core.held, core.state
    metrics.watch("capacity", lambda: capacity)
    metrics.watch("running", lambda: held.num_running)
    metrics.watch("unsettled", lambda: held.num_unsettled)
    metrics.watch("overdue", held.num_overdue)
    metrics.watch("failed_beats", lambda: state.num_failed_beats)
    metrics.watch("paused", lambda: float(state.is_paused))
    for loop in ("poll", "beat", "sweep"):
        metrics.watch(f"last_{loop}_age_seconds", partial(_age, state, loop))
    metrics.watch("listener_age_seconds", lambda: _seconds(topics.last_heard_age()))
    metrics.watch("topic_messages_dropped", topics.num_dropped)


def _age(state: LoopState, loop: str) -> float:
    return state.age(loop).total_seconds()


def _seconds(age: timedelta | None) -> float:
    return -1.0 if age is None else age.total_seconds()
