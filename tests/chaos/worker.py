"""A worker whose handler does what each item's note says, writes down its runs, and can be given faults."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, override

from pydantic import Field

from headrace.infra.background.runtime import BackgroundRuntime, WorkerTaskSpec
from headrace.infra.background.signals import ReadinessState
from headrace.infra.boot import BootedProcess
from headrace.om.context import OpContext
from headrace.om.root import Infra, Managers
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.handler import WorkHandlerInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.command import WorkerCommand, worker_main
from headrace.workers.kit.container import WorkerParts, build_parts
from headrace.workers.kit.loop import open_work_loop, work_loop_tasks
from headrace.workers.kit.process import build_worker_runtime
from headrace.workers.kit.renewal import LeaseRenewer
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.wiring import WorkLoop
from tests.chaos.ledger import Ledger
from tests.chaos.shifted_clock import shift_wall_clock

DEATH: Final = 86
"""The exit code of a process whose item killed it."""

GATE_POLL_SECONDS: Final = 0.02
RENEWAL_THREAD: Final = "renewal-thread"


class ChaosSettings(WorkerSettings):
    """The settings under `HEADRACE_CHAOS_`."""

    env_scope: ClassVar[str] = "CHAOS"

    service: Annotated[str, Field(min_length=1, description="The process's name.")] = "chaos"
    folder: Annotated[Path, Field(description="Where the ledger and the marks are that the test sets.")]
    clock_shift_seconds: Annotated[float, Field(description="How far the wall clock is ahead.")] = 0
    failing_task: Annotated[str | None, Field(description="The task that raises once the mark `fail` is there.")] = None


@dataclass(frozen=True, slots=True)
class Marks:
    """Files that tell the workers of one test something by being there."""

    folder: Path

    @property
    def gate(self) -> Path:
        """Items that hold go on once it is there."""
        return self.folder / "gate"

    @property
    def fail(self) -> Path:
        """The failing task fails once it is there."""
        return self.folder / "fail"


class NotingHandlerImpl(WorkHandlerInterface):
    """Does what the note says: a word, and its argument where it has one.

    Args:
        ledger: Where the runs are written down.
        marks: What `hold` waits for.
    """

    def __init__(self, ledger: Ledger, marks: Marks) -> None:
        self._ledger = ledger
        self._acts: Mapping[str, Callable[..., Awaitable[None]]] = {
            "": _quick,
            "sleep": _sleep,
            "hold": partial(_until_there, marks.gate),
            "freeze": _freeze,
            "die": _die,
            "ignore": _ignore,
            "thread": _block_a_thread,
            "exit-in-task": _exit_in_a_task,
        }

    @override
    async def handle(self, ctx: OpContext, item: WorkItem) -> Any:
        word, _, argument = str(item.payload.get("note", "")).partition(" ")
        run, how = self._ledger.begin(item.id), "finished"
        try:
            await self._acts[word](*([argument] if argument else []))
        except BaseException as error:
            how = type(error).__name__
            raise
        finally:
            self._ledger.end(run, how)


async def _quick() -> None:
    pass


async def _sleep(seconds: str) -> None:
    await asyncio.sleep(float(seconds))


async def _freeze(seconds: str) -> None:
    time.sleep(float(seconds))  # noqa: ASYNC251 - a handler that blocks its event loop is the fault


async def _ignore() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


async def _block_a_thread(seconds: str) -> None:
    await asyncio.to_thread(time.sleep, float(seconds))


async def _exit_in_a_task() -> None:
    async def leave() -> None:
        sys.exit(0)

    await asyncio.create_task(leave())


async def _die() -> None:
    os._exit(DEATH)


async def _until_there(mark: Path) -> None:
    while not mark.exists():  # noqa: ASYNC110, ASYNC240 - the one who makes it is another process
        await asyncio.sleep(GATE_POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class ChaosContext:
    """What the tasks work with."""

    work_loop: WorkLoop


type Spec = WorkerTaskSpec[ChaosContext]


def build_runtime(settings: ChaosSettings, booted: BootedProcess) -> BackgroundRuntime[ChaosContext]:
    """Return the runtime of a worker with the tasks of every worker and the faults that the settings ask for."""
    marks = Marks(settings.folder)
    if settings.clock_shift_seconds:
        shift_wall_clock(timedelta(seconds=settings.clock_shift_seconds))

    def register(registry: HandlerRegistry, _managers: Managers, _infra: Infra) -> None:
        registry.register(WorkKind.NOOP, NotingHandlerImpl(ledger_of(settings.folder), marks))

    parts, readiness = build_parts(settings, register, booted), ReadinessState()
    resources = partial(_resources, parts, readiness)
    return build_worker_runtime(settings, readiness, resources, _with_fault(settings, work_loop_tasks(settings), marks))


def ledger_of(folder: Path) -> Ledger:
    """Return the ledger of one test's workers."""
    return Ledger(folder / "ledger.jsonl")


@asynccontextmanager
async def _resources(parts: WorkerParts, readiness: ReadinessState) -> AsyncIterator[ChaosContext]:
    async with open_work_loop(parts, readiness) as work_loop:
        yield ChaosContext(work_loop)


def _with_fault(settings: ChaosSettings, specs: tuple[Spec, ...], marks: Marks) -> tuple[Spec, ...]:
    if settings.failing_task == RENEWAL_THREAD:
        _break_renewal_thread(marks)
    return tuple(
        replace(spec, run=partial(_run_and_fail, spec, marks)) if spec.name == settings.failing_task else spec
        for spec in specs
    )


async def _run_and_fail(spec: Spec, marks: Marks, context: ChaosContext, stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_fail(spec.name, marks))
        await spec.run(context, stop)


async def _fail(name: str, marks: Marks) -> None:
    await _until_there(marks.fail)
    raise RuntimeError(f"planted in {name}")


def _break_renewal_thread(marks: Marks) -> None:
    renew = LeaseRenewer.renew

    async def broken(self: LeaseRenewer) -> bool:
        if marks.fail.exists():
            raise RuntimeError(f"planted in {RENEWAL_THREAD}")
        return await renew(self)

    LeaseRenewer.renew = broken  # type: ignore[method-assign]  # the fault of this process


COMMAND = WorkerCommand("chaos-worker", ChaosSettings, build_runtime)


def main() -> int:
    """Run the subcommand that the process's arguments name; return its exit code."""
    return worker_main(COMMAND, sys.argv[1:])
