"""The tasks of one worker, each given what it needs."""

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex

from headrace.om.base import utcnow
from headrace.om.context import AppContext, AppType
from headrace.om.root import build_managers
from headrace.om.storage.database import Database
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import database_options
from headrace.om.work.manager import WorkHolderInterface
from headrace.workers.kit.claiming import ClaimLoopTask, ClaimPlan
from headrace.workers.kit.container import WorkerParts
from headrace.workers.kit.core import LoopCore
from headrace.workers.kit.health import HealthLimits, LoopState
from headrace.workers.kit.held import HeldClaims
from headrace.workers.kit.lag import LoopLagTask
from headrace.workers.kit.liveness import LivenessPlan, LivenessTask
from headrace.workers.kit.overdue import OverdueTask
from headrace.workers.kit.relaying import RelayTask
from headrace.workers.kit.renewal import InlineRenewal, LeaseRenewalTask, LeaseTimes, RenewalHost
from headrace.workers.kit.renewal_thread import ThreadedRenewal
from headrace.workers.kit.running import ItemRunner, RunLimits
from headrace.workers.kit.scheduling import ScheduleTask
from headrace.workers.kit.server import MetricsServerTask, watch_worker
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.settling import SettlementQueue, Settler, SettlerLimits, SettlerTask
from headrace.workers.kit.sweep_steps import Retention, standard_steps
from headrace.workers.kit.sweeping import SweepPlan, SweepStep, SweepTask


@dataclass(frozen=True, slots=True)
class WorkLoop:
    """One worker's tasks and what they share."""

    worker: str
    core: LoopCore
    settlements: SettlementQueue
    settler: Settler
    claiming: ClaimLoopTask
    settling: SettlerTask
    renewal: LeaseRenewalTask
    liveness: LivenessTask
    lag: LoopLagTask
    overdue: OverdueTask
    sweep: SweepTask
    relay: RelayTask
    schedules: ScheduleTask
    server: MetricsServerTask


def build_work_loop(parts: WorkerParts, core: LoopCore, server: MetricsServerTask) -> WorkLoop:
    """Return the tasks of a worker, wired; nothing runs yet."""
    settings, managers, infra = parts.settings, parts.managers, parts.infra
    worker = worker_name(settings.service)
    app = AppContext(type=AppType.WORKER, version=f"{settings.service}@{settings.release}")
    settlements = SettlementQueue(core.held)
    settler = Settler(managers.work, settlements, core)
    runner = ItemRunner(worker, parts.registry, _run_limits(settings), settlements, core.metrics, parts.tracing)
    times = LeaseTimes(settings.lease, settings.renewal_interval, settings.blocked_loop_limit)
    flushing = SettlerLimits(settings.renewal_interval, settings.flush_budget)
    claim_plan = _claim_plan(settings, worker, app)
    watch_worker(core, infra.topics, capacity=settings.capacity)
    return WorkLoop(
        worker=worker,
        core=core,
        settlements=settlements,
        settler=settler,
        claiming=ClaimLoopTask(claim_plan, core, managers.work, infra.topics, parts.registry, runner),
        settling=SettlerTask(settler, settlements, flushing, core),
        renewal=LeaseRenewalTask(_renewal_host(parts, core, times), core, times),
        liveness=LivenessTask(_liveness_plan(settings, worker), infra.cache, core, _describer(parts, core, worker)),
        lag=LoopLagTask(core, settings.loop_lag_warning),
        overdue=OverdueTask(settings.handler_overdue_limit, core),
        sweep=SweepTask(_sweep_plan(settings, app), _steps(parts), core),
        relay=RelayTask(app, managers.outbox, infra.topics, settings.relay_interval, core),
        schedules=ScheduleTask(app, managers.work, settings.schedule_interval, core),
        server=server,
    )


def worker_name(service: str) -> str:
    """Return a name for this process that no other has: at most 150 characters, for operators."""
    return f"{service[:60]}-{socket.gethostname()[:60]}-{os.getpid()}-{token_hex(3)}"


def build_core(parts: WorkerParts) -> LoopCore:
    """Return what the tasks of one worker share; nothing runs yet."""
    settings = parts.settings
    limits = HealthLimits(
        failed_beats=settings.heartbeat_failure_limit,
        poll_age=settings.poll_age_limit,
        pauses=settings.liveness_loss == "pause",
        sweep_age=settings.sweep_age_limit,
        listener_age=settings.listener_age_limit,
        overdue=settings.handler_overdue_limit,
    )
    held, state = HeldClaims(), LoopState(parts.clock, limits)
    state.listener_age, state.longest_overdue = parts.infra.topics.last_heard_age, held.longest_overdue
    return LoopCore(held, state, parts.clock, parts.metrics)


def _claim_plan(settings: WorkerSettings, worker: str, app: AppContext) -> ClaimPlan:
    return ClaimPlan(
        worker=worker,
        app=app,
        lane=settings.lane,
        capacity=settings.capacity,
        lease=settings.lease,
        poll_interval=settings.poll_interval,
        drain_mode=settings.drain_mode,
        drain_budget=settings.drain_budget,
    )


def _run_limits(settings: WorkerSettings) -> RunLimits:
    return RunLimits(settings.handler_timeout, settings.handler_timeouts)


def _liveness_plan(settings: WorkerSettings, worker: str) -> LivenessPlan:
    return LivenessPlan(worker, settings.heartbeat_interval, settings.heartbeat_ttl)


def _sweep_plan(settings: WorkerSettings, app: AppContext) -> SweepPlan:
    return SweepPlan(app, settings.sweep_interval, settings.sweep_jitter, settings.sweep_step_timeout)


def _steps(parts: WorkerParts) -> tuple[SweepStep, ...]:
    settings = parts.settings
    retention = Retention(
        settled_items=settings.retain_settled_items,
        done_outbox_rows=settings.retain_done_outbox_rows,
        webhook_messages=settings.retain_webhook_messages,
        deleted_records=settings.retain_deleted_records,
        every=settings.purge_interval,
        limit=settings.sweep_limit,
    )
    return standard_steps(parts.managers, parts.metrics, retention)


def _describer(parts: WorkerParts, core: LoopCore, worker: str) -> Callable[[], dict[str, object]]:
    settings, started_at = parts.settings, utcnow().isoformat()

    def describe() -> dict[str, object]:
        return {
            "worker": worker,
            "service": settings.service,
            "release": settings.release,
            "lane": settings.lane,
            "kinds": list(parts.registry.kinds),
            "capacity": settings.capacity,
            "running": core.held.num_running,
            "started_at": started_at,
        }

    return describe


def _renewal_host(parts: WorkerParts, core: LoopCore, times: LeaseTimes) -> RenewalHost:
    if parts.database is None:
        return InlineRenewal(parts.managers.work, core, times)
    return ThreadedRenewal(partial(_open_control, parts), core, times)


@asynccontextmanager
async def _open_control(parts: WorkerParts) -> AsyncIterator[WorkHolderInterface]:
    """Open the queue over one connection of the running loop's own, for renewals alone: they use no toolkit."""
    options = database_options(parts.settings)
    database = Database(replace(options, limits=replace(options.limits, pool_size=1, control_pool_size=1)))
    storage = StoragePostgresImpl(database, fair_share=parts.settings.fair_share)
    try:
        yield build_managers(storage, parts.infra).work
    finally:
        await storage.close()
