"""The work loop as a process runs it: its resources, its tasks, and in which order they stop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Final, Protocol

from headrace.infra.background.heartbeat import HeartbeatTask
from headrace.infra.background.runtime import WorkerTaskSpec
from headrace.infra.background.signals import FileHeartbeat, ReadinessState
from headrace.om.storage.guards import refuse_unfit_database
from headrace.workers.kit.container import WorkerParts
from headrace.workers.kit.server import MetricsServerTask, probe_server
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.wiring import WorkLoop, build_core, build_work_loop

FINAL_FLUSH: Final = timedelta(seconds=2)
"""For what a process that is cut short still has to write; within the time that its resources have to close."""


class HasWorkLoop(Protocol):
    """A process's context that carries the work loop."""

    @property
    def work_loop(self) -> WorkLoop:
        """The loop."""
        ...


def work_loop_tasks[ContextT: HasWorkLoop](settings: WorkerSettings) -> tuple[WorkerTaskSpec[ContextT], ...]:
    """Return the specs of every task, in the phases in which they stop.

    First whatever begins work and the items themselves; then the settler, which writes their ends; then the renewal,
    which has kept their leases so far; last what shows the worker to its outside.
    """
    picks: tuple[tuple[str, int, Callable[[WorkLoop], _Task]], ...] = (
        ("claim-loop", 0, lambda loop: loop.claiming),
        ("sweep", 0, lambda loop: loop.sweep),
        ("relay", 0, lambda loop: loop.relay),
        ("schedules", 0, lambda loop: loop.schedules),
        ("settler", 1, lambda loop: loop.settling),
        ("overdue-items", 2, lambda loop: loop.overdue),
        ("lease-renewal", 2, lambda loop: loop.renewal),
        ("liveness", 3, lambda loop: loop.liveness),
        ("loop-lag", 3, lambda loop: loop.lag),
        ("metrics-server", 3, lambda loop: loop.server),
    )
    specs = [WorkerTaskSpec(name, partial(_run_picked, pick), phase) for name, phase, pick in picks]
    if settings.heartbeat_file is not None:
        beat = HeartbeatTask(FileHeartbeat(settings.heartbeat_file), settings.heartbeat_interval)
        specs.append(WorkerTaskSpec("heartbeat-file", beat.run, 3))
    return tuple(specs)


class _Task(Protocol):
    async def run(self, stop: asyncio.Event) -> None: ...


async def _run_picked(pick: Callable[[WorkLoop], _Task], context: HasWorkLoop, stop: asyncio.Event) -> None:
    await pick(context.work_loop).run(stop)


@asynccontextmanager
async def open_work_loop(parts: WorkerParts, readiness: ReadinessState) -> AsyncIterator[WorkLoop]:
    """Check the database, start the toolkits, take the port; yield the loop; close all of it in reverse.

    On the way out, whatever way that is, ends that are not written yet are written first.

    Raises:
        SchemaMismatch, ConfigurationInvalid, Unavailable: The worker cannot work as it is set up; what was opened is
            closed again.
    """
    async with AsyncExitStack() as stack:
        stack.push_async_callback(parts.storage.close)
        if parts.database is not None:
            await refuse_unfit_database(parts.database)
        stack.push_async_callback(parts.infra.close)
        await parts.infra.start()
        server = probe_server(
            core := build_core(parts), readiness, host=parts.settings.metrics_host, port=parts.settings.metrics_port
        )
        stack.enter_context(server)
        loop = build_work_loop(parts, core, MetricsServerTask(server))
        stack.push_async_callback(loop.settler.flush, FINAL_FLUSH)
        yield loop
