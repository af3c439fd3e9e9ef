"""The settings of a worker process: what it claims, how long things may take, and which pairs cannot work."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from headrace.infra.settings import Duration, within
from headrace.om.paging import DEFAULT_SWEEP_LIMIT
from headrace.om.storage.settings import StorageSettings
from headrace.om.tenancy.rules import DEFAULT_PRINCIPAL_TTL
from headrace.om.work.rules import MAX_CRASHES
from headrace.om.work.scheduling import DEFAULT_TICK_LIMIT
from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.relations import refuse_bad_pairs

SWEEPS_MISSED: Final = 6
"""Intervals, jitter included, without any success of the sweep before the worker is unwell."""

Lane = Annotated[str, Field(min_length=1, max_length=100, description="The lane whose items are claimed.")]


def config_of(worker: str) -> SettingsConfigDict:
    """Return a worker's `model_config`: a local run reads `.env` and, above it, the worker's own `workers/<name>/.env`.

    Args:
        worker: Its folder below `workers/`.
    """
    return SettingsConfigDict(env_file=(".env", f"workers/{worker}/.env"))


class WorkerSettings(StorageSettings):
    """What every worker is told; a worker's own class adds its fields, its `env_scope` and its `config_of`."""

    lane: Lane = "default"
    capacity: Annotated[int, Field(ge=1, le=500, description="Items that run at once; at most database_pool_size.")] = (
        10
    )
    lease: Annotated[Duration, within("1s", "1d"), Field(description="How long a claim holds without a renewal.")] = (
        timedelta(seconds=60)
    )
    renewal_interval: Annotated[
        Duration,
        within("1ms", "8h"),
        Field(description="Between two renewals of all leases; at most a third of the lease."),
    ] = timedelta(seconds=15)
    poll_interval: Annotated[
        Duration, within("5ms", "1h"), Field(description="The queue is looked at this often when no wake-up comes.")
    ] = timedelta(seconds=1)
    poll_age_limit: Annotated[
        Duration,
        within("1s", "1d"),
        Field(description="/healthz answers 503 when the queue was last looked at longer ago than this."),
    ] = timedelta(minutes=2)
    listener_age_limit: Annotated[
        Duration,
        within("1m", "7d"),
        Field(description="/healthz answers 503 when the wake-up listener heard itself longer ago; polls cover less."),
    ] = timedelta(minutes=15)
    heartbeat_interval: Annotated[
        Duration,
        within("10ms", "1h"),
        Field(description="Between two liveness beats into the cache, and into the heartbeat file."),
    ] = timedelta(seconds=10)
    heartbeat_ttl: Annotated[
        Duration,
        within("100ms", "1d"),
        Field(description="How long a liveness beat is seen; above interval times failure limit."),
    ] = timedelta(seconds=45)
    heartbeat_failure_limit: Annotated[
        int, Field(ge=1, le=100, description="After this many failed beats in a row /healthz answers 503.")
    ] = 3
    liveness_loss: Annotated[
        Literal["pause", "continue"],
        Field(description="Whether failed beats also pause the claiming; continue claims through a cache outage."),
    ] = "pause"
    handler_timeout: Annotated[
        Duration, within("1ms", "7d"), Field(description="How long a handler may run; longer is a failed attempt.")
    ] = timedelta(minutes=5)
    handler_timeouts: Annotated[
        dict[WorkKind, Annotated[Duration, within("1ms", "7d")]],
        Field(description='Kinds with a limit of their own, as JSON: {"NOOP": "10s"}.'),
    ] = Field(default_factory=dict)
    handler_overdue_limit: Annotated[
        Duration,
        within("100ms", "1d"),
        Field(description="A handler that goes on so long after its timeout is cancelled again; /healthz answers 503."),
    ] = timedelta(minutes=1)
    drain_mode: Annotated[
        Literal["release", "finish"],
        Field(description="On stop: release cancels items and hands them back, finish lets them end first."),
    ] = "release"
    drain_budget: Annotated[
        Duration, within("0s", "1d"), Field(description="How long items have to end when the worker stops.")
    ] = timedelta(seconds=15)
    flush_budget: Annotated[
        Duration,
        within("10ms", "1h"),
        Field(description="How long the last settlements have to be written when the worker stops."),
    ] = timedelta(seconds=5)
    stop_window: Annotated[
        Duration, within("1s", "7d"), Field(description="How long the platform waits between SIGTERM and SIGKILL.")
    ] = timedelta(seconds=30)
    blocked_loop_limit: Annotated[
        Duration,
        within("1s", "7d"),
        Field(description="A handler that blocks the event loop longer than this loses its lease."),
    ] = timedelta(minutes=10)
    loop_lag_warning: Annotated[
        Duration,
        within("1ms", "1h"),
        Field(description="An event loop later than this is told in the log, with the kinds at work."),
    ] = timedelta(milliseconds=250)
    sweep_interval: Annotated[Duration, within("10ms", "1d"), Field(description="Between two passes of the sweep.")] = (
        timedelta(seconds=30)
    )
    sweep_jitter: Annotated[
        float, Field(ge=0, le=0.9, description="Share of the sweep interval to spread over, both ways.")
    ] = 0.3
    sweep_step_timeout: Annotated[
        Duration, within("100ms", "1h"), Field(description="How long one step of the sweep may take.")
    ] = timedelta(seconds=60)
    relay_interval: Annotated[
        Duration, within("5ms", "1h"), Field(description="The outbox is looked at this often when no wake-up comes.")
    ] = timedelta(seconds=1)
    schedule_interval: Annotated[
        Duration,
        within("10ms", "1h"),
        Field(description="Schedules are looked at at every tick, and this often at least; a new one is seen by then."),
    ] = timedelta(seconds=5)
    schedule_tick_limit: Annotated[
        int,
        Field(ge=1, le=10_000, description="Ticks of one schedule that one pass enqueues; of more the latest stay."),
    ] = DEFAULT_TICK_LIMIT
    purge_interval: Annotated[
        Duration, within("0s", "30d"), Field(description="The sweep purges at most this often.")
    ] = timedelta(minutes=10)
    retain_settled_items: Annotated[
        Duration, within("0s", "3650d"), Field(description="Settled items are kept this long.")
    ] = timedelta(days=7)
    retain_done_outbox_rows: Annotated[
        Duration, within("0s", "3650d"), Field(description="Relayed outbox rows are kept this long.")
    ] = timedelta(days=1)
    retain_webhook_messages: Annotated[
        Duration,
        within("0s", "3650d"),
        Field(description="Webhook messages are kept this long; at least as long as settled items."),
    ] = timedelta(days=30)
    retain_deleted_records: Annotated[
        Duration, within("0s", "3650d"), Field(description="Deleted orgs, with what they own, are kept this long.")
    ] = timedelta(days=30)
    sweep_limit: Annotated[
        int, Field(ge=1, le=10_000, description="Records of one tenant that one statement of the sweep moves.")
    ] = DEFAULT_SWEEP_LIMIT
    max_crashes: Annotated[
        int, Field(ge=1, le=1000, description="Claims of an item that may end in a passed lease before it is failed.")
    ] = MAX_CRASHES
    principal_ttl: Annotated[
        Duration,
        within("0s", "1d"),
        Field(description="How long claims trust what they learned of an org and its members; 0s asks anew."),
    ] = DEFAULT_PRINCIPAL_TTL
    settlement_messages: Annotated[
        bool,
        Field(description="Each settled batch is told of to other processes too, for those that wait for ends."),
    ] = False
    heartbeat_file: Annotated[
        Path | None, Field(description="The file that the process beats into, for the healthcheck subcommand.")
    ] = None
    readiness_file: Annotated[
        Path | None, Field(description="The file that is there while the process is ready; set both files or none.")
    ] = None

    @property
    def shutdown_timeout(self) -> timedelta:
        """How long a graceful stop may take: items end, then their settlements are written."""
        return self.drain_budget + self.flush_budget

    @property
    def sweep_age_limit(self) -> timedelta:
        """How long no step of the sweep may have succeeded: several passes, and steps that took all their time."""
        return SWEEPS_MISSED * self.sweep_interval + 2 * self.sweep_step_timeout

    @property
    def heartbeat_max_age(self) -> timedelta:
        """How old the file's beat may be for the probe to call the process alive."""
        return self.heartbeat_interval * self.heartbeat_failure_limit

    @model_validator(mode="after")
    def _pairs_fit(self) -> Self:
        refuse_bad_pairs(self)
        return self
