"""The peers: what is installed for each, how its programs are called, and what it was set to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PeerKind:
    """A peer before it is installed.

    Attributes:
        name: In tables.
        packages: What is installed, by the name that its registry knows.
        program: Its program, a module of this package without ending, or a file of it with `.mjs`.
        num_drained: Items of one drain: some seconds' worth.
        unfinished: Counts the items that are not done.
        settings: What it was set to, for the report.
    """

    name: str
    packages: tuple[str, ...]
    program: str
    num_drained: int
    unfinished: str
    settings: Mapping[str, str]

    @property
    def is_node(self) -> bool:
        """Whether it runs in Node."""
        return self.program.endswith(".mjs")


PEERS: Final = (
    PeerKind(
        "pgqueuer",
        ("pgqueuer[asyncpg]", "uvloop"),
        "pgqueuer_program",
        12_000,
        "SELECT count(*) FROM pgqueuer",
        {"driver": "asyncpg pool", "loop": "uvloop", "batch_size": "250", "bulk": "enqueue of 5,000"},
    ),
    PeerKind(
        "procrastinate",
        ("procrastinate", "psycopg[binary,pool]", "uvloop"),
        "procrastinate_program",
        1_000,
        "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
        {"driver": "psycopg pool", "loop": "uvloop", "concurrency": "20", "delete_jobs": "always"},
    ),
    PeerKind(
        "graphile-worker",
        ("graphile-worker",),
        "graphile_worker_program.mjs",
        30_000,
        "SELECT count(*) FROM graphile_worker._private_jobs",
        {
            "concurrentJobs": "24",
            "maxPoolSize": "25",
            "localQueue.size": "500, none for pick-up",
            "completeJobBatchDelay": "0, none for pick-up",
            "bulk": "addJobs of 5,000",
        },
    ),
    PeerKind(
        "pg-boss",
        ("pg-boss",),
        "pg_boss_program.mjs",
        20_000,
        "SELECT count(*) FROM pgboss.job WHERE state < 'completed'",
        {
            "batchSize": "500",
            "localConcurrency": "2",
            "burstWhenBatchFull": "true",
            "useListenNotify": "true",
            "pollingIntervalSeconds": "0.5",
            "bulk": "insert of 5,000",
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer that is installed.

    Attributes:
        kind: Which.
        argv: What starts its program; a command, a URL and a number come after.
        environment: On top of this process's own.
        versions: Of itself and what it runs on.
    """

    kind: PeerKind
    argv: Sequence[str]
    environment: Mapping[str, str]
    versions: Mapping[str, str]
