"""The life of a background process: resources, tasks, stop and exit code. It knows nothing of the work.

Start: readiness and heartbeat of an earlier process are taken back, the resources are entered, readiness is marked,
the tasks start. Stop: readiness is taken back, the phases of tasks are stopped one after the other, the resources are
closed in reverse. Anything else that ends a task ends the process.
"""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from functools import partial

from headrace.infra.background.leaving import wind_down
from headrace.infra.background.reporting import leaves, log_once
from headrace.infra.background.signals import HeartbeatInterface, ReadinessInterface
from headrace.infra.background.stopping import StopPhase, StopSwitch, arm, handled_signals, phases_of

_logger = logging.getLogger(__name__)


class StartFailedError(Exception):
    """The resources could not be prepared; what had been opened is closed again and no task was started."""


class TaskStoppedError(Exception):
    """A task ended though nobody had asked it to; the process ends with it."""


class ShutdownTimeoutError(Exception):
    """The process was asked to stop and did not in time; what still ran was cancelled."""


class ExitCode(IntEnum):
    """How a process ended. 1 and 2 are left to Python's own failures and to usage errors."""

    CLEAN = 0
    """Stopped after one request; every task returned and every resource closed in time."""
    START_FAILED = 10
    """A resource could not be prepared."""
    TASK_FAILED = 11
    """A task raised or returned early, or a resource failed to close."""
    SECOND_SIGNAL = 12
    """A second signal cut the graceful stop short."""
    SHUTDOWN_TIMEOUT = 13
    """The graceful stop, or closing the resources, took longer than its limit."""


@dataclass(frozen=True, slots=True)
class WorkerTaskSpec[ContextT]:
    """One long-lived task: it owns its loop and returns only after its stop event is set.

    Attributes:
        name: Technical name, unique in the process.
        run: Called once, with the ready context and the stop event of the task's phase.
        stop_phase: Phases are stopped in rising order: the stop event of a phase is set once every task of the phases
            before it has returned.
    """

    name: str
    run: Callable[[ContextT, asyncio.Event], Awaitable[None]]
    stop_phase: int = 0


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """Name and limits of a process's life.

    A process asked to stop ends within `shutdown_timeout`, or by force within `shutdown_timeout + close_timeout`; the
    platform's own stop window must be longer than that sum. A task of the runtime's that swallows its cancellation
    outlives both; what tasks began and left behind does not, see `headrace.infra.background.leaving`.

    Attributes:
        name: The process's name in log lines and errors.
        shutdown_timeout: From the stop request to everything returned and closed.
        close_timeout: From the end of the last task to every resource closed, however the tasks ended.
    """

    name: str
    shutdown_timeout: timedelta = timedelta(seconds=30)
    close_timeout: timedelta = timedelta(seconds=10)


class BackgroundRuntime[ContextT]:
    """Runs the tasks over the resources, once, until the stop event.

    Args:
        resources: Makes the async context that opens every resource and yields the tasks' context. It is entered and
            left in one asyncio task; a stop request during the entering cancels it.
        tasks: At least one, with distinct names.
        options: Name and limits.
        readiness: Marked ready once the resources are; unready before the start and from the stop request on. In
            between it belongs to the tasks.
        heartbeat: Cleared before the start and at the end, so that no beat outlives its process. The runtime never
            beats; a task does.

    Raises:
        ValueError: No task, or two tasks of one name.
    """

    def __init__(
        self,
        resources: Callable[[], AbstractAsyncContextManager[ContextT]],
        tasks: Sequence[WorkerTaskSpec[ContextT]],
        options: RuntimeOptions,
        *,
        readiness: Sequence[ReadinessInterface] = (),
        heartbeat: HeartbeatInterface | None = None,
    ) -> None:
        self._resources = resources
        self._tasks = tuple(tasks)
        self._options = options
        self._readiness = tuple(readiness)
        self._heartbeat = heartbeat
        self._is_ending = False
        self._cut_off: list[str] = []
        self._failure: ExceptionGroup[Exception] | None = None
        names = [spec.name for spec in self._tasks]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"process {options.name} needs at least one task and distinct task names, got {names}")

    @property
    def name(self) -> str:
        """The process's name."""
        return self._options.name

    async def run(self, stop: asyncio.Event) -> None:
        """Runs the process's life and returns when it ended as asked.

        Resources are closed on every way out, in reverse. A cancel ends the tasks at once and is passed on.

        Args:
            stop: Set it to ask for a graceful stop; at any time, also before the start is over.

        Raises:
            ExceptionGroup: Holds a `StartFailedError` caused by the resource's error, or what the tasks raised, with
                a `TaskStoppedError` for one that returned early.
            ShutdownTimeoutError: The stop or the closing took too long. The tasks' own failure, if any, is its cause.
        """
        deadline, closing = asyncio.timeout(None), asyncio.timeout(None)
        try:
            async with deadline, closing, AsyncExitStack() as stack:
                try:
                    if not stop.is_set():
                        await self._live(stack, stop, deadline)
                finally:
                    arm(closing, self._options.close_timeout)
        except Exception as error:
            if not (deadline.expired() or closing.expired()):
                raise
            raise self._overdue() from (self._failure if isinstance(error, TimeoutError) else error)
        finally:
            self._withdraw("the process has stopped")

    async def _live(self, stack: AsyncExitStack, stop: asyncio.Event, deadline: asyncio.Timeout) -> None:
        _logger.info("process %s: starting", self.name)
        starting = asyncio.timeout(None)
        try:
            async with starting:
                context = await self._prepare(stack, stop, starting, deadline)
        except TimeoutError:
            if not starting.expired():
                raise
            return
        if not stop.is_set():
            _logger.info("process %s: ready, %d tasks", self.name, len(self._tasks))
            await self._run_tasks(context, stop, deadline)

    async def _prepare(
        self, stack: AsyncExitStack, stop: asyncio.Event, starting: asyncio.Timeout, deadline: asyncio.Timeout
    ) -> ContextT:
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(self._interrupt_start(stop, starting, deadline))
            try:
                self._withdraw("the process is starting")
                context = await stack.enter_async_context(self._resources())
                for port in self._readiness:
                    port.mark_ready()
            except Exception as error:
                raise StartFailedError(f"process {self.name} could not prepare its resources: {error}") from error
            finally:
                watcher.cancel()
        return context

    async def _interrupt_start(self, stop: asyncio.Event, starting: asyncio.Timeout, deadline: asyncio.Timeout) -> None:
        await stop.wait()
        _logger.info("process %s: stopping before it is ready", self.name)
        arm(deadline, self._options.shutdown_timeout)
        arm(starting, timedelta(0))

    async def _run_tasks(self, context: ContextT, stop: asyncio.Event, deadline: asyncio.Timeout) -> None:
        phases = phases_of(spec.stop_phase for spec in self._tasks)
        try:
            async with asyncio.TaskGroup() as group:
                for spec in self._tasks:
                    group.create_task(self._run_task(spec, context, phases[spec.stop_phase]), name=spec.name)
                await self._conduct_stop(stop, phases, deadline)
        except ExceptionGroup as failure:
            self._failure = failure
            await _absorb_repeated_cancel()
            raise

    async def _run_task(self, spec: WorkerTaskSpec[ContextT], context: ContextT, phase: StopPhase) -> None:
        try:
            await self._run_until_told(spec, context, phase)
        except asyncio.CancelledError as error:
            # A task group takes a cancelled task for one that is done with. With nobody ending the group, it would go
            # on without this task and never say so.
            if not self._is_ending:
                self._is_ending = True
                raise TaskStoppedError(f"task {spec.name} was cancelled from outside the runtime") from error
            self._cut_off.append(spec.name)
            raise
        except Exception:
            self._is_ending = True
            raise
        phase.note_return()

    async def _run_until_told(self, spec: WorkerTaskSpec[ContextT], context: ContextT, phase: StopPhase) -> None:
        try:
            await spec.run(context, phase.stop)
        except (SystemExit, KeyboardInterrupt) as error:
            raise TaskStoppedError(f"task {spec.name} tried to end the process by {error!r}") from error
        if not phase.stop.is_set():
            raise TaskStoppedError(f"task {spec.name} returned before it was asked to stop")

    async def _conduct_stop(self, stop: asyncio.Event, phases: dict[int, StopPhase], deadline: asyncio.Timeout) -> None:
        try:
            await stop.wait()
            arm(deadline, self._options.shutdown_timeout)
            _logger.info("process %s: stopping", self.name)
            self._mark_unready("the process is stopping")
            for phase in phases.values():
                phase.stop.set()
                await phase.all_returned.wait()
        finally:
            self._is_ending = True

    def _withdraw(self, reason: str) -> None:
        self._mark_unready(reason)
        if self._heartbeat is not None:
            self._heartbeat.clear()

    def _mark_unready(self, reason: str) -> None:
        for port in self._readiness:
            port.mark_unready(reason)

    def _overdue(self) -> ShutdownTimeoutError:
        limit, closing = self._options.shutdown_timeout, self._options.close_timeout
        running = ", ".join(self._cut_off) or "the closing of its resources"
        return ShutdownTimeoutError(
            f"process {self.name} did not stop in time (shutdown timeout {limit.total_seconds():g} s,"
            f" close timeout {closing.total_seconds():g} s); still running: {running}"
        )


class BackgroundRunner[ContextT]:
    """Runs a runtime as the process: owns the signals and turns every outcome into an exit code, logged once.

    Args:
        runtime: Used once.
        signals: Those that ask for a stop; empty to handle none.
        loop_factory: Makes the event loop, such as `uvloop.new_event_loop`; asyncio's default when not given.
    """

    def __init__(
        self,
        runtime: BackgroundRuntime[ContextT],
        *,
        signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGINT),
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
    ) -> None:
        self._runtime = runtime
        self._signals = tuple(signals)
        self._loop_factory = loop_factory

    def run(self) -> int:
        """Runs the process in an event loop of its own; waits for no task or thread that does not end.

        Returns:
            The exit code, for the entrypoint to hand to `sys.exit`, or to `leave_when_held` first.
        """
        runner, has_ended = asyncio.Runner(loop_factory=self._loop_factory), True
        try:
            code = int(runner.run(self.serve()))
            has_ended = runner.run(wind_down())
        finally:
            if has_ended:
                runner.close()
        return code

    async def serve(self, switch: StopSwitch | None = None) -> ExitCode:
        """Runs the process in the running event loop; in the main thread when it handles signals.

        A cancel from outside is passed on, with everything closed.

        Args:
            switch: How else than by signal a stop is asked for.
        """
        switch = switch or StopSwitch()
        with handled_signals(self._signals, partial(self._on_signal, switch)):
            code = await self._outcome(switch)
        level = logging.INFO if code is ExitCode.CLEAN else logging.ERROR
        _logger.log(level, "process %s: ended, exit code %d (%s)", self._runtime.name, code, code.name)
        return code

    def _on_signal(self, switch: StopSwitch, received: signal.Signals) -> None:
        manner = "stopping at once" if switch.stopping.is_set() else "stopping gracefully"
        _logger.info("process %s: %s received, %s", self._runtime.name, received.name, manner)
        switch.request()

    async def _outcome(self, switch: StopSwitch) -> ExitCode:
        guard = asyncio.timeout(None)
        try:
            async with guard:
                with switch.on_second(partial(arm, guard, timedelta(0))):
                    await self._runtime.run(switch.stopping)
        except Exception as error:  # noqa: BLE001 - the process's outer edge: every failure becomes an exit code
            code = ExitCode.SECOND_SIGNAL if guard.expired() else _exit_code(error)
            self._report(error, cut_short=guard.expired())
            return code
        return ExitCode.CLEAN

    def _report(self, error: Exception, *, cut_short: bool) -> None:
        for leaf in leaves(error):
            if not (cut_short and isinstance(leaf, TimeoutError)):
                log_once(_logger, f"process {self._runtime.name} failed", leaf)


def _exit_code(error: Exception) -> ExitCode:
    if isinstance(error, ShutdownTimeoutError):
        return ExitCode.SHUTDOWN_TIMEOUT
    if any(isinstance(leaf, StartFailedError) for leaf in leaves(error)):
        return ExitCode.START_FAILED
    return ExitCode.TASK_FAILED


async def _absorb_repeated_cancel() -> None:
    """Takes the cancel that a failed task group gives its owner once more (since Python 3.13) after an outside cancel.

    It would hit the first await of whichever resource is closed next. Nothing is lost: the failure is on its way out
    in its place, and the timeout that cancelled has noted that it expired.
    """
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return
