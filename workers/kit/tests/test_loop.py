"""A whole worker over memory under the process runtime, on its ways out that are not a drain."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from headrace.infra.background.runtime import BackgroundRuntime, WorkerTaskSpec
from headrace.infra.background.signals import ReadinessState
from headrace.om.work.types.work_item import WorkStatus
from headrace.workers.kit.loop import open_work_loop, work_loop_tasks
from headrace.workers.kit.process import build_worker_runtime
from headrace.workers.kit.wiring import WorkLoop
from workers.kit.tests.workbench import Bench, Doing, bench, until


@dataclass(frozen=True)
class Context:
    work_loop: WorkLoop


class Broken(Exception):  # noqa: N818 - a fault, not a name anybody catches
    """What the failing task of a test raises."""


def runtime_of(one: Bench, *more: WorkerTaskSpec[Context]) -> BackgroundRuntime[Context]:
    readiness = ReadinessState()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        async with open_work_loop(one.parts, readiness) as loop:
            yield Context(loop)

    tasks: tuple[WorkerTaskSpec[Context], ...] = work_loop_tasks(one.parts.settings)
    return build_worker_runtime(one.parts.settings, readiness, resources, (*tasks, *more))


async def test_running_items_are_released_when_another_task_of_the_process_fails() -> None:
    fail = asyncio.Event()

    async def fails(_context: Context, _stop: asyncio.Event) -> None:
        await fail.wait()
        raise Broken

    async with bench(Doing(gate=asyncio.Event()), capacity=2) as one:
        items = await one.enqueue(2)
        running = asyncio.create_task(runtime_of(one, WorkerTaskSpec("fails", fails)).run(asyncio.Event()))
        await until(lambda: one.doing.num_started == 2, "both run")
        fail.set()
        with pytest.RaisesGroup(Broken):
            await running
        for item in items:
            released = await one.read(item)
            assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)
            assert "process_ended" in (released.last_error or "")


async def test_running_items_are_released_when_the_process_is_cancelled() -> None:
    async with bench(Doing(gate=asyncio.Event())) as one:
        (item,) = await one.enqueue()
        running = asyncio.create_task(runtime_of(one).run(asyncio.Event()))
        await until(lambda: one.doing.num_started == 1, "it runs")
        running.cancel()
        await asyncio.wait([running])
        assert (await one.read(item)).status is WorkStatus.QUEUED


async def test_rows_are_released_when_the_process_is_cancelled_during_their_claim() -> None:
    async with bench() as one:
        (item,) = await one.enqueue()
        with one.storage.work.answers.hanging():
            running = asyncio.create_task(runtime_of(one).run(asyncio.Event()))
            await one.storage.work.answers.reached.wait()
            running.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([running])
        released = await one.read(item)
        assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)


async def test_the_worker_drains_in_order_when_it_is_asked_to_stop() -> None:
    stop = asyncio.Event()
    async with bench(Doing(gate=asyncio.Event())) as one:
        (item,) = await one.enqueue()
        running = asyncio.create_task(runtime_of(one).run(stop))
        await until(lambda: one.doing.num_started == 1, "it runs")
        stop.set()
        await running
        assert (await one.read(item)).status is WorkStatus.QUEUED
