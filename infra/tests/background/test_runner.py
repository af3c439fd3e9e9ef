import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from headrace.infra.background.reporting import log_once
from headrace.infra.background.runtime import BackgroundRunner, ExitCode, WorkerTaskSpec
from headrace.infra.background.stopping import StopSwitch
from infra.tests.background.life import (
    SOON,
    Context,
    Resources,
    Run,
    fail,
    failing,
    opened,
    return_early,
    runtime,
    spec,
    wait_for_ever,
)


def asking(switch: StopSwitch, *, times: int = 1) -> WorkerTaskSpec[Context]:
    async def ask(_context: Context, stop: asyncio.Event) -> None:
        for _ in range(times):
            switch.request()
        await stop.wait()

    return spec(ask)


def unsignalled(*tasks: WorkerTaskSpec[Context], resources: Resources | None = None) -> BackgroundRunner[Context]:
    return BackgroundRunner(runtime(*tasks, resources=resources), signals=())


def traces(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.exc_info]


async def test_the_code_is_clean_after_the_first_request() -> None:
    switch = StopSwitch()
    assert await unsignalled(spec(), asking(switch)).serve(switch) is ExitCode.CLEAN


async def test_the_code_is_clean_when_stopped_before_the_start() -> None:
    switch = StopSwitch()
    switch.request()
    assert await unsignalled(spec()).serve(switch) is ExitCode.CLEAN


async def test_a_failed_start_has_its_code() -> None:
    assert await unsignalled(spec(), resources=failing(OSError("down"))).serve() is ExitCode.START_FAILED


@pytest.mark.parametrize("broken", [fail, return_early])
async def test_a_failed_task_has_its_code(broken: Run) -> None:
    assert await unsignalled(spec(broken), spec(wait_for_ever)).serve() is ExitCode.TASK_FAILED


async def test_a_resource_that_fails_to_close_has_the_code_of_a_failure() -> None:
    switch = StopSwitch()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        yield Context()
        raise OSError("cannot close")

    assert await unsignalled(asking(switch), resources=resources).serve(switch) is ExitCode.TASK_FAILED


async def test_a_second_request_cancels_at_once_and_has_its_code() -> None:
    switch, context = StopSwitch(), Context()
    runner = unsignalled(spec(wait_for_ever), asking(switch, times=2), resources=opened(context))
    assert await runner.serve(switch) is ExitCode.SECOND_SIGNAL
    assert context.diary == ["opened", "task started", "task cancelled", "closed"]


async def test_two_requests_before_the_start_end_it_with_nothing_cut_short() -> None:
    switch = StopSwitch()
    switch.request()
    switch.request()
    assert await unsignalled(spec()).serve(switch) is ExitCode.CLEAN


async def test_a_second_request_interrupts_a_hanging_close() -> None:
    switch = StopSwitch()

    @asynccontextmanager
    async def resources() -> AsyncIterator[Context]:
        yield Context()
        switch.request()
        await asyncio.Event().wait()

    assert await unsignalled(asking(switch), resources=resources).serve(switch) is ExitCode.SECOND_SIGNAL


async def test_a_late_stop_has_its_code_and_names_the_task(caplog: pytest.LogCaptureFixture) -> None:
    switch = StopSwitch()
    life = runtime(spec(wait_for_ever), asking(switch), shutdown_timeout=SOON)
    code = await BackgroundRunner(life, signals=()).serve(switch)
    assert code is ExitCode.SHUTDOWN_TIMEOUT
    assert "still running: wait_for_ever" in caplog.text


async def test_a_cancel_from_outside_is_passed_on() -> None:
    started = asyncio.Event()

    async def start(_context: Context, stop: asyncio.Event) -> None:
        started.set()
        await stop.wait()

    serving = asyncio.create_task(unsignalled(spec(start)).serve())
    await started.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_each_failure_of_a_group_is_logged_once_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    async def fail_when_cancelled(_context: Context, _stop: asyncio.Event) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise KeyError("cleanup")

    await unsignalled(spec(fail_when_cancelled), spec(fail)).serve()
    assert traces(caplog) == [
        "process tested failed: ValueError: broken task",
        "process tested failed: KeyError: 'cleanup'",
    ]


async def test_a_trace_that_a_task_has_logged_is_not_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    async def fail_loudly(_context: Context, _stop: asyncio.Event) -> None:
        error = ValueError("told already")
        log_once(logging.getLogger("task"), "claiming failed", error)
        raise error

    await unsignalled(spec(fail_loudly)).serve()
    assert traces(caplog) == ["claiming failed: ValueError: told already"]
    assert "process tested failed: ValueError: told already (its stack trace is logged above)" in caplog.messages


async def test_the_life_cycle_is_logged_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="headrace")
    switch = StopSwitch()
    await unsignalled(asking(switch)).serve(switch)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("headrace")] == [
        "process tested: starting",
        "process tested: ready, 1 tasks",
        "process tested: stopping",
        "process tested: ended, exit code 0 (CLEAN)",
    ]


async def test_former_signal_handlers_are_back_afterwards() -> None:
    def former(_number: int, _frame: object) -> None: ...

    before = {each: signal.signal(each, former) for each in (signal.SIGTERM, signal.SIGINT)}
    switch = StopSwitch()
    seen: list[object] = []

    async def look(_context: Context, stop: asyncio.Event) -> None:
        seen.append(signal.getsignal(signal.SIGTERM))
        switch.request()
        await stop.wait()

    try:
        await BackgroundRunner(runtime(spec(look))).serve(switch)
        assert seen != [former]
        assert [signal.getsignal(each) for each in before] == [former, former]
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def test_a_runner_makes_its_own_loop_and_returns_a_plain_code() -> None:
    made: list[asyncio.AbstractEventLoop] = []

    def loop_factory() -> asyncio.AbstractEventLoop:
        made.append(asyncio.new_event_loop())
        return made[0]

    code = BackgroundRunner(runtime(spec(return_early)), loop_factory=loop_factory).run()
    assert code == ExitCode.TASK_FAILED
    assert type(code) is int
    assert made[0].is_closed()
