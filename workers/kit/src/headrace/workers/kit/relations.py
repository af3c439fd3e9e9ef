"""Which settings must fit each other, compared once at boot: a bad pair is refused in one sentence naming both."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from headrace.infra.settings import format_duration

if TYPE_CHECKING:
    from headrace.workers.kit.settings import WorkerSettings

RENEWALS_PER_LEASE: Final = 3
"""A lease outlives two lost renewals."""

CONTROL_USERS: Final = 3
"""Who uses the control pool at once: the claim, the settler and the sweep. Renewals have a connection of their own."""

CLOSE_TIMEOUT: Final = timedelta(seconds=3)
"""How long the resources of a worker may take to close."""

STOP_MARGIN: Final = timedelta(seconds=2)
"""What the platform's stop window must leave over: for items that heed no cancel, and to leave the process."""


def refuse_bad_pairs(settings: "WorkerSettings") -> None:
    """Return when every two settings that depend on each other fit.

    Raises:
        ValueError: Some do not; a sentence for each pair, joined by semicolons.
    """
    if problems := tuple(bad_pairs(settings)):
        raise ValueError("; ".join(problems))


def bad_pairs(settings: "WorkerSettings") -> Iterator[str]:
    """Yield one sentence for each pair of settings that cannot work together."""
    yield from _lease_pairs(settings)
    yield from _pool_pairs(settings)
    yield from _stop_pairs(settings)
    yield from _liveness_pairs(settings)
    yield from _retention_pairs(settings)


def _lease_pairs(settings: "WorkerSettings") -> Iterator[str]:
    lease, renewal = settings.lease, settings.renewal_interval
    if renewal > lease / RENEWALS_PER_LEASE:
        yield _sentence(settings, "lease", f"at least {RENEWALS_PER_LEASE} times", "renewal_interval")
    if settings.database_statement_timeout >= lease / 2:
        yield _sentence(settings, "database_statement_timeout", "below half of", "lease")
    if settings.blocked_loop_limit < lease:
        yield _sentence(settings, "blocked_loop_limit", "at least", "lease")
    if settings.poll_age_limit < settings.poll_interval * 3:
        yield _sentence(settings, "poll_age_limit", "at least 3 times", "poll_interval")
    yield from _timeout_problems(settings)


def _timeout_problems(settings: "WorkerSettings") -> Iterator[str]:
    limits = {"handler_timeout": settings.handler_timeout} | {
        f"handler_timeouts.{kind}": limit for kind, limit in settings.handler_timeouts.items()
    }
    for name, limit in limits.items():
        if limit > settings.blocked_loop_limit:
            limit_text, blocked_text = format_duration(limit), format_duration(settings.blocked_loop_limit)
            yield f"{name}={limit_text}: expected at most blocked_loop_limit={blocked_text}"


def _pool_pairs(settings: "WorkerSettings") -> Iterator[str]:
    if settings.database_pool_size < settings.capacity:
        yield (
            f"database_pool_size={settings.database_pool_size}: expected at least capacity={settings.capacity},"
            " since each running item may hold a connection"
        )
    if settings.database_control_pool_size < CONTROL_USERS:
        yield (
            f"database_control_pool_size={settings.database_control_pool_size}: expected at least {CONTROL_USERS},"
            " one each for the claim, the settler and the sweep"
        )


def _stop_pairs(settings: "WorkerSettings") -> Iterator[str]:
    needed = settings.shutdown_timeout + CLOSE_TIMEOUT + STOP_MARGIN
    if needed > settings.stop_window:
        yield (
            f"stop_window={format_duration(settings.stop_window)}: expected at least {format_duration(needed)}:"
            f" drain_budget={format_duration(settings.drain_budget)}"
            f" + flush_budget={format_duration(settings.flush_budget)}"
            f" + {format_duration(CLOSE_TIMEOUT + STOP_MARGIN)} to close"
        )


def _liveness_pairs(settings: "WorkerSettings") -> Iterator[str]:
    if settings.heartbeat_ttl <= settings.heartbeat_interval * settings.heartbeat_failure_limit:
        yield _sentence(
            settings, "heartbeat_ttl", f"above {settings.heartbeat_failure_limit} times", "heartbeat_interval"
        )
    if (settings.heartbeat_file is None) != (settings.readiness_file is None):
        yield "heartbeat_file and readiness_file: expected both to be set, or none of them"


def _retention_pairs(settings: "WorkerSettings") -> Iterator[str]:
    if settings.retain_webhook_messages < settings.retain_settled_items:
        # An operator may retry a delivery for as long as its item is there.
        yield _sentence(settings, "retain_webhook_messages", "at least", "retain_settled_items")


def _sentence(settings: "WorkerSettings", name: str, expected: str, other: str) -> str:
    one, two = (format_duration(getattr(settings, each)) for each in (name, other))
    return f"{name}={one}: expected {expected} {other}={two}"
