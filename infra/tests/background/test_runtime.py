import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import FrozenInstanceError

import pytest

from headrace.infra.background.runtime import (
    BackgroundRuntime,
    RuntimeOptions,
    ShutdownTimeoutError,
    StartFailedError,
    TaskStoppedError,
    WorkerTaskSpec,
)
from infra.tests.background.life import (
    BOUND,
    SOON,
    Context,
    ReadinessDiary,
    already_set,
    fail,
    failing,
    opened,
    return_early,
    runtime,
    spec,
    wait_for_ever,
    wait_for_stop,
)


async def test_a_life_runs_in_order_when_it_is_stopped() -> None:
    context, stop = Context(), asyncio.Event()

    async def stopper(context: Context, own_stop: asyncio.Event) -> None:
        context.diary.append("stop asked")
        stop.set()
        await own_stop.wait()

    readiness = ReadinessDiary(context.diary)
    await runtime(spec(), spec(stopper), resources=opened(context), readiness=[readiness]).run(stop)

    assert context.diary == [
        "unready: the process is starting",
        "opened",
        "ready",
        "task started",
        "stop asked",
        "unready: the process is stopping",
        "task returned",
        "closed",
        "unready: the process has stopped",
    ]


async def test_a_failing_task_cancels_its_neighbours_before_resources_are_closed() -> None:
    context = Context()
    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(wait_for_ever), spec(fail), resources=opened(context)).run(asyncio.Event())
    assert [str(each) for each in caught.value.exceptions] == ["broken task"]
    assert context.diary == ["opened", "task started", "task cancelled", "closed"]


async def test_an_early_return_ends_the_process_by_name() -> None:
    context = Context()
    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(return_early), spec(wait_for_ever), resources=opened(context)).run(asyncio.Event())
    assert caught.group_contains(TaskStoppedError, match="return_early", depth=1)
    assert "task cancelled" in context.diary


async def test_every_failure_is_in_the_group_when_a_neighbour_fails_too() -> None:
    async def fail_when_cancelled(_context: Context, _stop: asyncio.Event) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise KeyError("broken cleanup")

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(fail_when_cancelled), spec(fail)).run(asyncio.Event())
    assert caught.group_contains(ValueError)
    assert caught.group_contains(KeyError)


@pytest.mark.parametrize("ending", [SystemExit(3), KeyboardInterrupt()])
async def test_a_task_cannot_end_the_process_behind_the_runner(ending: BaseException) -> None:
    async def exits(_context: Context, _stop: asyncio.Event) -> None:
        raise ending

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(exits), spec(wait_for_ever)).run(asyncio.Event())
    assert caught.group_contains(TaskStoppedError, match="exits")


async def test_a_foreign_cancellation_of_a_task_ends_the_process() -> None:
    async def cancels_itself(_context: Context, _stop: asyncio.Event) -> None:
        raise asyncio.CancelledError

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(cancels_itself), spec(wait_for_ever)).run(asyncio.Event())
    assert caught.group_contains(TaskStoppedError, match="cancels_itself was cancelled from outside")


async def test_a_task_cancelled_by_a_neighbour_ends_the_process() -> None:
    async def cancels_others(_context: Context, stop: asyncio.Event) -> None:
        victim = next(task for task in asyncio.all_tasks() if task.get_name() == "wait_for_stop")
        victim.cancel()
        await stop.wait()

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(wait_for_stop), spec(cancels_others)).run(asyncio.Event())
    assert caught.group_contains(TaskStoppedError, match="wait_for_stop")


async def test_a_slow_cleanup_is_not_taken_for_a_cancel_from_outside_when_a_neighbour_fails() -> None:
    async def cleans_up(_context: Context, _stop: asyncio.Event) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(20):
                await asyncio.sleep(0)

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(cleans_up), spec(fail)).run(asyncio.Event())
    assert [type(each) for each in caught.value.exceptions] == [ValueError]


async def test_a_cancel_of_the_runtime_is_passed_on_with_all_closed() -> None:
    context, started = Context(), asyncio.Event()

    async def starts(_context: Context, stop: asyncio.Event) -> None:
        started.set()
        await stop.wait()

    tasks = (spec(wait_for_ever), spec(starts))
    running = asyncio.create_task(runtime(*tasks, resources=opened(context)).run(asyncio.Event()))
    await asyncio.wait_for(started.wait(), BOUND)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert context.diary[-2:] == ["task cancelled", "closed"]


async def test_what_was_opened_is_closed_in_reverse_when_the_start_fails_half_way() -> None:
    context = Context()

    @asynccontextmanager
    async def part(name: str) -> AsyncIterator[None]:
        context.diary.append(f"open {name}")
        try:
            yield
        finally:
            context.diary.append(f"close {name}")

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(part("first"))
            await stack.enter_async_context(part("second"))
            await stack.enter_async_context(failing(OSError("third is down"))())
            yield context

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(), resources=resources, readiness=[ReadinessDiary([])]).run(asyncio.Event())
    assert caught.group_contains(StartFailedError, match="third is down")
    assert context.diary == ["open first", "open second", "close second", "close first"]


async def test_readiness_is_never_marked_when_the_start_fails() -> None:
    said: list[str] = []

    with pytest.raises(ExceptionGroup):
        await runtime(spec(), resources=failing(OSError("down")), readiness=[ReadinessDiary(said)]).run(asyncio.Event())
    assert said == ["unready: the process is starting", "unready: the process has stopped"]


async def test_a_stop_cancels_a_start_under_way() -> None:
    stop, context = asyncio.Event(), Context()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            context.diary.append("start undone")
        yield context

    await runtime(spec(), resources=resources).run(stop)
    assert context.diary == ["start undone"]


async def test_nothing_is_opened_when_the_stop_was_asked_before_the_start() -> None:
    context = Context()
    await runtime(spec(), resources=opened(context)).run(already_set())
    assert context.diary == []


async def test_no_task_starts_when_the_stop_was_asked_during_a_start_that_never_waits() -> None:
    context, stop = Context(), asyncio.Event()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        stop.set()
        yield context
        context.diary.append("closed")

    await runtime(spec(), resources=resources).run(stop)
    assert context.diary == ["closed"]


async def test_a_resource_s_own_timeout_is_a_failed_start() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(), resources=failing(TimeoutError("no answer"))).run(asyncio.Event())
    assert caught.group_contains(StartFailedError, match="no answer")


async def test_a_phase_is_stopped_only_after_the_one_before_has_returned() -> None:
    diary: list[str] = []
    context, stop, may_return = Context(diary), asyncio.Event(), asyncio.Event()

    async def claims(_context: Context, own_stop: asyncio.Event) -> None:
        await own_stop.wait()
        diary.append("claims told")
        await may_return.wait()
        diary.append("claims returned")

    async def settles(_context: Context, own_stop: asyncio.Event) -> None:
        await own_stop.wait()
        diary.append("settles told")

    async def beats(_context: Context, own_stop: asyncio.Event) -> None:
        stop.set()
        while not own_stop.is_set():
            if "claims told" in diary:
                may_return.set()
            await asyncio.sleep(0)
        diary.append("beats told")

    tasks = (spec(beats, stop_phase=2), spec(settles, stop_phase=1), spec(claims))
    await runtime(*tasks, resources=opened(context)).run(stop)
    assert diary == ["opened", "claims told", "claims returned", "settles told", "beats told", "closed"]


async def test_a_later_phase_may_not_return_while_an_earlier_one_still_runs() -> None:
    stop = asyncio.Event()

    async def settles(_context: Context, _own_stop: asyncio.Event) -> None:
        stop.set()
        await stop.wait()

    with pytest.raises(ExceptionGroup) as caught:
        await runtime(spec(wait_for_ever), spec(settles, stop_phase=1)).run(stop)
    assert caught.group_contains(TaskStoppedError, match="settles")


async def test_a_task_that_ignores_its_stop_is_cut_off_by_name_when_the_time_is_up() -> None:
    context, stop = Context(), asyncio.Event()

    async def asks(_context: Context, own_stop: asyncio.Event) -> None:
        stop.set()
        await own_stop.wait()

    running = runtime(spec(asks), spec(wait_for_ever), resources=opened(context), shutdown_timeout=SOON)
    with pytest.raises(ShutdownTimeoutError, match=r"shutdown timeout 0\.02 s.*still running: wait_for_ever"):
        await running.run(stop)
    assert context.diary[-2:] == ["task cancelled", "closed"]


async def test_closing_is_not_disturbed_when_a_task_fails_while_it_is_cut_off() -> None:
    context, stop = Context(), asyncio.Event()

    async def fails_when_cut(_context: Context, _own_stop: asyncio.Event) -> None:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("broken cleanup")

    running = runtime(spec(fails_when_cut), resources=opened(context), shutdown_timeout=SOON)
    with pytest.raises(ShutdownTimeoutError) as caught:
        await running.run(stop)
    assert context.diary == ["opened", "closed"]
    assert isinstance(caught.value.__cause__, ExceptionGroup)


async def test_a_start_that_hangs_in_its_undoing_is_bounded_when_stopped() -> None:
    stop = asyncio.Event()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.Event().wait()
        yield Context()

    with pytest.raises(ShutdownTimeoutError):
        await runtime(spec(), resources=resources, shutdown_timeout=SOON).run(stop)


async def test_closing_is_bounded_when_the_process_was_stopped() -> None:
    stop = asyncio.Event()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        yield Context()
        await asyncio.Event().wait()

    async def asks(_context: Context, own_stop: asyncio.Event) -> None:
        stop.set()
        await own_stop.wait()

    with pytest.raises(ShutdownTimeoutError, match="the closing of its resources"):
        await runtime(spec(asks), resources=resources, close_timeout=SOON).run(stop)


async def test_a_hanging_close_does_not_hide_the_task_s_failure() -> None:
    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        try:
            yield Context()
        finally:
            await asyncio.Event().wait()

    with pytest.raises(ShutdownTimeoutError) as caught:
        await runtime(spec(fail), resources=resources, close_timeout=SOON).run(asyncio.Event())
    cause = caught.value.__cause__
    assert isinstance(cause, ExceptionGroup)
    assert isinstance(cause.exceptions[0], ValueError)


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        spec().name = "other"  # type: ignore[misc]  # that it is refused is the point


@pytest.mark.parametrize("tasks", [(), (spec(name="same"), spec(name="same"))])
def test_a_runtime_is_refused_without_tasks_of_distinct_names(tasks: tuple[WorkerTaskSpec[Context], ...]) -> None:
    with pytest.raises(ValueError, match="distinct task names"):
        BackgroundRuntime(opened(Context()), tasks, RuntimeOptions("tested"))
