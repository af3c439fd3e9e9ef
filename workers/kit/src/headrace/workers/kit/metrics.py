"""What a worker counts and measures. Labels are kinds, outcomes, steps and states: bounded, never an id."""

from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkGauges, WorkHeldBack
from headrace.om.work.types.settlement import Outcome

SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600)


HELD_BACK: Final = tuple(name.removeprefix("num_") for name in WorkHeldBack.model_fields)


class WorkerMetrics:
    """One worker's collectors.

    Args:
        registry: Where they are registered; one `WorkerMetrics` each.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._define_items(registry)
        self._define_process(registry)
        self._define_queue(registry)

    def _define_items(self, registry: CollectorRegistry) -> None:
        kind = ["kind"]
        self._claims = Counter("headrace_claims", "Items claimed", kind, registry=registry)
        self._settlements = Counter(
            "headrace_settlements", "Claims settled, by how they ended", ["kind", "outcome"], registry=registry
        )
        self._handler_seconds = Histogram(
            "headrace_handler_seconds", "How long handlers ran", kind, buckets=SECONDS, registry=registry
        )
        self._wait_seconds = Histogram(
            "headrace_wait_seconds", "From available to claimed", kind, buckets=SECONDS, registry=registry
        )
        self._lease_losses = Counter(
            "headrace_lease_losses", "Items whose task was cancelled for its lease", [*kind, "how"], registry=registry
        )
        self._conflicts = Counter(
            "headrace_settlement_conflicts", "Settlements refused: the claim held no more", kind, registry=registry
        )
        self._dead_letters = Counter("headrace_dead_letters", "Items that became dead letters", kind, registry=registry)
        self._unwritten = Counter(
            "headrace_settlements_unwritten", "Settlements given up; the lease passes instead", kind, registry=registry
        )
        # The hot path asks for the same few children again and again.
        self.handler_seconds = lru_cache(maxsize=None)(self._handler_seconds.labels)
        self.wait_seconds = lru_cache(maxsize=None)(self._wait_seconds.labels)
        self._claims_of = lru_cache(maxsize=None)(self._claims.labels)
        self._settlements_of = lru_cache(maxsize=None)(self._settlements.labels)

    def _define_process(self, registry: CollectorRegistry) -> None:
        self._process = Gauge("headrace_worker", "The worker's own numbers", ["what"], registry=registry)
        self._lag = Histogram(
            "headrace_loop_lag_seconds", "How late the event loop ran", buckets=SECONDS, registry=registry
        )
        self._errors = Counter(
            "headrace_loop_errors", "Failed passes of the worker's own loops", ["loop"], registry=registry
        )
        self._sweep_seconds = Histogram(
            "headrace_sweep_seconds", "How long a step of the sweep took", ["step"], buckets=SECONDS, registry=registry
        )
        self._swept = Counter("headrace_swept", "Records that a step of the sweep moved", ["step"], registry=registry)

    def _define_queue(self, registry: CollectorRegistry) -> None:
        self._items = Gauge("headrace_queue_items", "Items in the whole queue", ["state"], registry=registry)
        self._held_back = Gauge(
            "headrace_queue_held_back", "Due items that may not begin, by reason", ["reason"], registry=registry
        )
        self._oldest = Gauge(
            "headrace_queue_oldest_waiting_seconds", "How long the oldest due item has waited", registry=registry
        )
        self._outbox = Gauge("headrace_outbox_rows", "Outbox rows not relayed yet", registry=registry)
        self._outbox_lag = Gauge(
            "headrace_outbox_lag_seconds", "How long the oldest due outbox row has waited", registry=registry
        )

    def watch(self, what: str, read: Callable[[], float]) -> None:
        """Show a number of the worker's own, read at each scrape: it must come from memory."""
        self._process.labels(what).set_function(read)

    def note_claimed(self, kind: WorkKind, waited: timedelta) -> None:
        """Count a claim, and how long the item had been available."""
        self._claims_of(kind).inc()
        self.wait_seconds(kind).observe(max(0.0, waited.total_seconds()))

    def note_settled(self, kind: WorkKind, outcome: Outcome) -> None:
        """Count a settlement that was written."""
        self._settlements_of(kind, outcome).inc()

    def note_conflict(self, kind: WorkKind) -> None:
        """Count a settlement that came too late."""
        self._conflicts.labels(kind).inc()

    def note_unwritten(self, kind: WorkKind) -> None:
        """Count a settlement that could not be written at all."""
        self._unwritten.labels(kind).inc()

    def note_dead_letter(self, kind: WorkKind) -> None:
        """Count an item that no attempt is left for."""
        self._dead_letters.labels(kind).inc()

    def note_lease_loss(self, kind: WorkKind, how: str) -> None:
        """Count an item that was cancelled for its lease."""
        self._lease_losses.labels(kind, how).inc()

    def note_error(self, loop: str) -> None:
        """Count a failed pass of one of the worker's loops."""
        self._errors.labels(loop).inc()

    def note_lag(self, lag: timedelta) -> None:
        """Measure how late the event loop came to a timer."""
        self._lag.observe(max(0.0, lag.total_seconds()))

    def note_swept(self, step: str, took: timedelta, num_moved: int) -> None:
        """Measure a step of the sweep that succeeded."""
        self._sweep_seconds.labels(step).observe(took.total_seconds())
        self._swept.labels(step).inc(num_moved)

    def show_queue(self, gauges: WorkGauges) -> None:
        """Show the queue as a sweep found it."""
        for state in ("queued", "claimed", "failed", "parked"):
            self._items.labels(state).set(getattr(gauges, f"num_{state}"))
        self._oldest.set(gauges.oldest_waiting.total_seconds() if gauges.oldest_waiting else 0)

    def show_held_back(self, held_back: WorkHeldBack) -> None:
        """Show what holds due items back, as a sweep found it."""
        for reason in HELD_BACK:
            self._held_back.labels(reason).set(getattr(held_back, f"num_{reason}"))

    def show_outbox(self, num_pending: int, lag: timedelta | None) -> None:
        """Show the outbox as a sweep found it."""
        self._outbox.set(num_pending)
        self._outbox_lag.set(lag.total_seconds() if lag else 0)
