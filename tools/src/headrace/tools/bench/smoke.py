"""Pick-up latency at rest and the processor time of an idle worker, measured from outside the worker's process."""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from headrace.infra.settings import load_settings
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.root import Managers, build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.migrations import migrate
from headrace.om.storage.options import database_options
from headrace.om.storage.settings import StorageSettings
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.tools.dev import PostgresServer, create_logins
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.state import PASSABLE, servers_directory, state_directory
from headrace.workers.kit.backends import build_infra

LANE: Final = "bench"
TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
READY_SECONDS: Final = 30
PICK_UP_SECONDS: Final = 10
NUM_WARM_UP: Final = 20


@dataclass(frozen=True, slots=True)
class Smoke:
    """What was measured.

    Attributes:
        pick_up_ms: From the enqueue's return (the commit) to the handler's first line, item by item.
        idle_share: Processor seconds of the idle worker per second.
    """

    pick_up_ms: Sequence[float]
    idle_share: float

    def rows(self) -> list[tuple[str, str]]:
        """Return what to print: names and values."""
        cuts = statistics.quantiles(self.pick_up_ms, n=100)
        return [
            ("items", str(len(self.pick_up_ms))),
            ("pick-up, median", f"{cuts[49]:.1f} ms"),
            ("pick-up, p99", f"{cuts[98]:.1f} ms"),
            ("pick-up, minimum", f"{min(self.pick_up_ms):.1f} ms"),
            ("idle worker, share of a core", f"{self.idle_share * 100:.2f} %"),
        ]


async def run_smoke(root: Path, num_items: int, idle_seconds: int) -> Smoke:
    """Start a server and a worker, measure, and stop both.

    Raises:
        DevServerError: There is no PostgreSQL on this machine, or the worker does not work.
    """
    async with (
        _environment(root) as environment,
        _queue(environment) as (managers, ctx),
        _worker(environment) as worker,
    ):
        await _pick_up(worker, managers, ctx, NUM_WARM_UP)
        pick_up_ms = await _pick_up(worker, managers, ctx, num_items)
        idle_share = await _idle_share(worker.pid, idle_seconds)
    return Smoke(pick_up_ms, idle_share)


@asynccontextmanager
async def _environment(root: Path) -> AsyncIterator[dict[str, str]]:
    """Give the settings that lead a process to a migrated database on a server of the bench's own."""
    parent = servers_directory(state_directory(root), server_identity())
    with tempfile.TemporaryDirectory(prefix="bench-", dir=parent, ignore_cleanup_errors=True) as folder:
        server = PostgresServer(await asyncio.to_thread(_passable, folder))
        await asyncio.to_thread(server.start)
        try:
            urls = await create_logins(await asyncio.to_thread(server.create_database, "headrace"))
            yield urls.environment() | {"HEADRACE_TOPICS_BACKEND": "postgres", "HEADRACE_SERVICE": "bench-client"}
        finally:
            await asyncio.to_thread(server.stop)


def _passable(folder: str) -> Path:
    """Let the server's own user through to the folder; see `headrace.tools.dev.privileges`."""
    path = Path(folder)
    path.chmod(PASSABLE)
    return path


@asynccontextmanager
async def _queue(environment: Mapping[str, str]) -> AsyncIterator[tuple[Managers, OpContext]]:
    """Give the managers over that database, and somebody who may enqueue."""
    settings = _settings(environment)
    await migrate(database_options(settings))
    storage, infra = StoragePostgresImpl(Database(database_options(settings))), build_infra(settings)
    managers = build_managers(storage, infra)
    await infra.start()
    try:
        rctx = RequestContext(app=AppContext(type=AppType.CLI, version="bench@1"))
        yield managers, await managers.tenancy.create_org(rctx, Org(name="Bench"), User(name="B", login_name="bench"))
    finally:
        await infra.close()
        await storage.close()


def _settings(environment: Mapping[str, str]) -> StorageSettings:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        return load_settings(StorageSettings)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@asynccontextmanager
async def _worker(environment: Mapping[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the telling worker; it is ready once it has handled its first item."""
    own = {"HEADRACE_BENCH_LANE": LANE, "HEADRACE_METRICS_PORT": "0", "HEADRACE_LOG_LEVEL": "WARNING"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "headrace.tools.bench.worker",
        "serve",
        env=os.environ | environment | own | {"HEADRACE_SERVICE": "bench"},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), READY_SECONDS)


async def _pick_up(
    worker: asyncio.subprocess.Process, managers: Managers, ctx: OpContext, num_items: int
) -> list[float]:
    """Enqueue items one by one, each when the last was handled; return how long each waited, in milliseconds."""
    waits: list[float] = []
    for number in range(num_items):
        # At rest: not in step with whatever the worker does on a timer.
        await asyncio.sleep(0.03 + number % 7 / 1000)
        item = await managers.work.enqueue(ctx, WorkItem(kind=WorkKind.NOOP, lane=LANE, origin="bench"))
        committed = time.time_ns()
        waits.append((await _entered_at(worker, item.id) - committed) / 1e6)
    return waits


async def _entered_at(worker: asyncio.subprocess.Process, item_id: UUID) -> int:
    if worker.stdout is None:
        raise DevServerError("The worker's output is not read.")
    line = await asyncio.wait_for(worker.stdout.readline(), READY_SECONDS + PICK_UP_SECONDS)
    told, _, entered = line.decode().strip().partition(" ")
    if told != str(item_id):
        raise DevServerError(f"The worker ended, or handled something else: {line.decode().strip()!r}.")
    return int(entered)


async def _idle_share(pid: int, seconds: int) -> float:
    """Return the processor seconds that a process used per second while nobody asked anything of it."""
    before = _processor_seconds(pid)
    await asyncio.sleep(seconds)
    return (_processor_seconds(pid) - before) / seconds


def _processor_seconds(pid: int) -> float:
    """Return the user and system seconds of a process. Source: proc(5), /proc/pid/stat, fields 14 and 15."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
