"""Makes runtimes for the tests: resources that keep a diary and tasks that wait for their stop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import override

from headrace.infra.background.runtime import BackgroundRuntime, RuntimeOptions, WorkerTaskSpec
from headrace.infra.background.signals import HeartbeatInterface, ReadinessInterface

SOON = timedelta(milliseconds=20)
BOUND = 20.0


@dataclass(frozen=True)
class Context:
    diary: list[str] = field(default_factory=list)


type Run = Callable[[Context, asyncio.Event], Awaitable[None]]
type Resources = Callable[[], AbstractAsyncContextManager[Context]]


class ReadinessDiary(ReadinessInterface):
    def __init__(self, diary: list[str]) -> None:
        self._diary = diary

    @override
    def mark_ready(self) -> None:
        self._diary.append("ready")

    @override
    def mark_unready(self, reason: str) -> None:
        self._diary.append(f"unready: {reason}")


async def wait_for_stop(context: Context, stop: asyncio.Event) -> None:
    context.diary.append("task started")
    await stop.wait()
    context.diary.append("task returned")


async def wait_for_ever(context: Context, _stop: asyncio.Event) -> None:
    context.diary.append("task started")
    try:
        await asyncio.Event().wait()
    finally:
        context.diary.append("task cancelled")


async def fail(_context: Context, _stop: asyncio.Event) -> None:
    raise ValueError("broken task")


async def return_early(_context: Context, _stop: asyncio.Event) -> None:
    return


def opened(context: Context) -> Resources:
    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        context.diary.append("opened")
        try:
            yield context
        finally:
            await asyncio.sleep(0)  # closing always awaits something
            context.diary.append("closed")

    return resources


def failing(error: Exception) -> Resources:
    def resources() -> AbstractAsyncContextManager[Context]:
        raise error

    return resources


def spec(run: Run = wait_for_stop, *, name: str = "", stop_phase: int = 0) -> WorkerTaskSpec[Context]:
    return WorkerTaskSpec(name or str(getattr(run, "__name__", "")), run, stop_phase)


def runtime(
    *tasks: WorkerTaskSpec[Context],
    resources: Resources | None = None,
    shutdown_timeout: timedelta = timedelta(seconds=30),
    close_timeout: timedelta = timedelta(seconds=10),
    readiness: Sequence[ReadinessInterface] = (),
    heartbeat: HeartbeatInterface | None = None,
) -> BackgroundRuntime[Context]:
    return BackgroundRuntime(
        resources or opened(Context()),
        tasks or (spec(),),
        RuntimeOptions("tested", shutdown_timeout, close_timeout),
        readiness=readiness,
        heartbeat=heartbeat,
    )


def already_set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event
