"""One run of the local stack: workers and receiver up, the samples through, and everything put away again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Final

from headrace.infra.addresses import shown_address
from headrace.infra.http.server import EmbeddedServer
from headrace.tools.dev.causes import cause_of
from headrace.tools.dev.deliveries import Delivery, MainJob, Problem
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.following import follow_logs
from headrace.tools.dev.interrupts import Interrupts
from headrace.tools.dev.local_stack import LocalStack, migrated, shown_path, signed_in
from headrace.tools.dev.ports import LOOPBACK, claimed_port, is_free
from headrace.tools.dev.receiver import Receiver
from headrace.tools.dev.report import showing
from headrace.tools.dev.samples import Sample
from headrace.tools.dev.screen import Screen
from headrace.tools.dev.supervisor import Supervisor, supervising

INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asks for.

    Attributes:
        is_once: Whether to end when all deliveries have ended.
        began_at: Monotonic seconds.
        ends_at: Monotonic seconds when all deliveries must have ended.
        receiver_port: Where the receiver must listen; None lets it choose.
    """

    is_once: bool
    began_at: float
    ends_at: float
    receiver_port: int | None = None

    @property
    def time_left(self) -> timedelta:
        """Until all deliveries must have ended; never negative."""
        return timedelta(seconds=max(0.0, self.ends_at - monotonic()))

    @property
    def elapsed_seconds(self) -> float:
        """Since the run began."""
        return monotonic() - self.began_at


class LocalRun:
    """Runs once, over servers that answer.

    Args:
        stack: The installation.
        options: What is asked for.
        screen: Who is told.
    """

    def __init__(self, stack: LocalStack, options: RunOptions, screen: Screen) -> None:
        self._stack = stack
        self._options = options
        self._screen = screen
        self._receiver = Receiver()
        self._supervisor: Supervisor | None = None
        self._is_idle = False

    async def run(self, samples: Sequence[Sample]) -> int:
        """Bring everything up, deliver the samples, keep running where that is asked for, and put everything away.

        Returns:
            The exit code: 0 when every message ended as it must (or a person ended the run after that), 1 when one did
            not, 130 when the run was interrupted before.

        Raises:
            DevServerError, PlatformException, InfraException: Something cannot be brought up.
        """
        task = asyncio.current_task()
        if task is None:
            raise DevServerError("a run needs a task of its own")
        interrupts = Interrupts(task, self._hurry, self._is_ending)
        with interrupts.installed():
            try:
                return await self._run(samples)
            except asyncio.CancelledError:
                if not interrupts.has_cancelled:
                    raise
                task.uncancel()
                return 0 if self._is_idle else INTERRUPTED
            except BaseExceptionGroup as error:
                raise cause_of(error) from error

    async def _run(self, samples: Sequence[Sample]) -> int:
        console = self._stack.console()
        self._screen.say(f"schemas: {await migrated(console)}")
        async with console.opened():
            ctx = await signed_in(console, self._stack)
            self._screen.say(f"org local ({ctx.org_id}), API key in {shown_path(self._stack.env_file)}")
            secrets = console.local_secrets
            if secrets is None:
                raise DevServerError("a run needs a folder for secrets")
            async with self._serving() as base_url:
                job = MainJob(console.managers, ctx, secrets, self._receiver, base_url)
                # Before any worker: what an interrupted run left in the queue is delivered as soon as one is up.
                await job.make_secrets()
                async with self._working() as supervisor:
                    await supervisor.ready(self._options.time_left)
                    self._tell_workers(supervisor)
                    code = await self._deliver(job, samples)
                    if not self._options.is_once:
                        await self._idle(supervisor, base_url)
                    return code

    async def _deliver(self, job: MainJob, samples: Sequence[Sample]) -> int:
        """Send the samples through and tell how it went; return the exit code that means."""
        deliveries: tuple[Delivery, ...] = ()
        with showing(self._screen, self._receiver) as show:
            try:
                async with asyncio.timeout(self._options.time_left.total_seconds()):
                    await job.register(samples)
                    deliveries = await job.publish(samples)
                    deliveries = await job.watch(deliveries, show)
            except TimeoutError:
                deliveries = await job.look(deliveries)
        problems = await job.problems(deliveries)
        if len(deliveries) < len(samples):
            problems = (Problem("-", "-", "not all messages were published in time"), *problems)
        return self._tell_outcome(deliveries, problems)

    def _tell_outcome(self, deliveries: Sequence[Delivery], problems: Sequence[Problem]) -> int:
        receiver, elapsed = self._receiver, f"{self._options.elapsed_seconds:.1f} s"
        if not problems:
            self._screen.say(
                f"All {len(deliveries)} messages reached their right end states in {elapsed}: {receiver.num_posts}"
                f" posts, {receiver.num_verified} signatures verified, every body byte-equal.",
                "bold green",
            )
            return 0
        self._screen.say(f"After {elapsed} not everything is as it must be:", "bold red")
        rows = [(each.event_type, each.route, each.what) for each in problems]
        self._screen.table(("EVENT", "ENDPOINT", "WHAT IS WRONG"), rows, "bold red")
        return 1

    async def _idle(self, supervisor: Supervisor, base_url: str) -> None:
        """Tell where everything is, and show the workers' logs until a person ends the run."""
        self._is_idle = True
        servers, workers = self._stack.ready.servers, supervisor.supervised
        pairs = [("receiver", f"{base_url}/ok (and /flaky /throttle /bad /gone /hang)")]
        pairs += [(each.program.name, f"{each.url}/metrics {each.url}/healthz") for each in workers]
        pairs.append(("database", shown_address(servers.database_url)))
        pairs += [("redis", shown_address(servers.redis_url))] if servers.redis_url else []
        pairs.append(("logs", shown_path(self._stack.places.logs)))
        self._screen.say("\nEverything is running. Ctrl-C stops it; Ctrl-C again makes that quick.", "bold")
        self._screen.list(pairs)
        self._screen.say("In another terminal: .venv/bin/headrace status\n")
        await follow_logs({each.program.name: each.log for each in workers}, self._screen.say)

    def _tell_workers(self, supervisor: Supervisor) -> None:
        for each in supervisor.supervised:
            self._screen.say(f"{each.program.name}: process {each.pid}, {each.url}/healthz, log {shown_path(each.log)}")

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[Supervisor]:
        async with supervising(self._stack.programs(), self._stack.places, self._screen.say) as supervisor:
            self._supervisor = supervisor
            yield supervisor

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[str]:
        """Serve the receiver around the body; give its base URL."""
        remembered = self._stack.state / "receiver.port"
        port = _receiver_port(self._options.receiver_port, remembered)
        stop = asyncio.Event()
        with EmbeddedServer(self._receiver.app, host=LOOPBACK, port=port) as server:
            remembered.write_text(f"{server.port}\n", encoding="ascii")
            self._screen.say(f"receiver: http://{LOOPBACK}:{server.port}")
            async with asyncio.TaskGroup() as group:
                group.create_task(server.run(stop))
                try:
                    yield f"http://{LOOPBACK}:{server.port}"
                finally:
                    self._receiver.close()
                    stop.set()

    def _is_ending(self) -> bool:
        return self._supervisor is not None and self._supervisor.is_stopping

    def _hurry(self) -> None:
        if self._supervisor is not None:
            self._supervisor.hurry()


def _receiver_port(requested: int | None, remembered: Path) -> int:
    """Returns the requested port after checking it, else the last run's where it is free, so that endpoints last."""
    if requested is not None:
        return claimed_port(requested, server="the receiver")
    try:
        last = int(remembered.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return claimed_port(None, server="the receiver")
    return last if 0 < last < 65536 and is_free(last) else claimed_port(None, server="the receiver")  # noqa: PLR2004 - ports
