"""How a worker is, from its own memory: when each of its loops last moved, and what is wrong with that."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from headrace.infra.background.timing import ClockInterface

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """From when on a worker counts as unwell.

    Attributes:
        failed_beats: This many failed liveness beats in a row.
        poll_age: The last good look at the queue is older than this.
        pauses: Whether failed beats also stop the claiming.
        sweep_age: No step of the sweep has succeeded for longer than this.
        listener_age: The listener last heard itself longer ago than this. Polls find work meanwhile, so that only a
            long silence is worth a restart.
        overdue: An item has outlasted its handler timeout by more than this, and its code goes on.
    """

    failed_beats: int
    poll_age: timedelta
    pauses: bool
    sweep_age: timedelta = timedelta(days=1)
    listener_age: timedelta = timedelta(days=1)
    overdue: timedelta = timedelta(days=1)


def _not_listening() -> timedelta | None:
    return None


def _not_overdue() -> timedelta:
    return timedelta(0)


class LoopState:
    """When the loops last moved; each loop notes its own. Reading it does no I/O.

    Ages count from the start, so that a loop that never moved is seen too.
    """

    def __init__(self, clock: ClockInterface, limits: HealthLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._moved_at = dict.fromkeys(("poll", "beat", "sweep", "sweep_step"), clock.monotonic())
        self._started_at = clock.monotonic()
        self.is_draining = False
        """Whether the worker stops: it claims and sweeps no more, and old age is no fault."""
        self.listener_age: Callable[[], timedelta | None] = _not_listening
        """How long ago the listener heard itself; None when it never did."""
        self.longest_overdue: Callable[[], timedelta] = _not_overdue
        """How long the item that most outlasts its handler timeout has done so; zero where none does."""
        self.num_failed_beats = 0
        """Liveness beats that failed in a row."""
        self.loop_turned_at = clock.monotonic()
        """When the event loop last turned; read by the renewal's thread."""

    @property
    def is_paused(self) -> bool:
        """Whether claiming waits for a good beat."""
        return self._limits.pauses and self.has_lost_liveness

    @property
    def has_lost_liveness(self) -> bool:
        """Whether so many beats in a row failed that operators no longer see this worker."""
        return self.num_failed_beats >= self._limits.failed_beats

    def note_poll(self) -> None:
        """The claim loop looked at the queue, or had good reason not to."""
        self._moved_at["poll"] = self._clock.monotonic()

    def note_sweep(self) -> None:
        """A pass of the sweep ended with every step done."""
        self._moved_at["sweep"] = self._clock.monotonic()

    def note_sweep_step(self) -> None:
        """A step of the sweep succeeded."""
        self._moved_at["sweep_step"] = self._clock.monotonic()

    def note_beat(self, *, is_good: bool) -> None:
        """A liveness beat was read back, or was not."""
        self.num_failed_beats = 0 if is_good else self.num_failed_beats + 1
        if is_good:
            self._moved_at["beat"] = self._clock.monotonic()

    def age(self, loop: str) -> timedelta:
        """Return how long ago a loop (`poll`, `beat`, `sweep` or `sweep_step`) last moved."""
        return self._clock.elapsed(self._moved_at[loop])

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong, a sentence each; empty when the worker is well."""
        found = (
            self._beat_problem(),
            self._poll_problem(),
            self._sweep_problem(),
            self._listener_problem(),
            self._overdue_problem(),
        )
        return tuple(problem for problem in found if problem)

    def _beat_problem(self) -> str | None:
        if not self.has_lost_liveness:
            return None
        paused = "; claiming is paused" if self._limits.pauses else ""
        return f"{self.num_failed_beats} liveness beats in a row failed{paused}"

    def _poll_problem(self) -> str | None:
        return self._loop_problem("the queue was last looked at", "poll", self._limits.poll_age)

    def _sweep_problem(self) -> str | None:
        # Not the last whole pass: one tenant's trouble, which fails a step again and again, is no reason to restart.
        return self._loop_problem("a step of the sweep last succeeded", "sweep_step", self._limits.sweep_age)

    def _loop_problem(self, what: str, loop: str, limit: timedelta) -> str | None:
        return None if self.is_draining else _age_problem(what, self.age(loop), limit)

    def _listener_problem(self) -> str | None:
        age = self.listener_age()
        if age is None:
            age = self._clock.elapsed(self._started_at)
        return _age_problem("the listener for wake-ups last heard itself", age, self._limits.listener_age)

    def _overdue_problem(self) -> str | None:
        overdue = self.longest_overdue()
        if overdue <= self._limits.overdue:
            return None
        return f"a handler goes on {overdue.total_seconds():.0f} s after its timeout, which it does not heed"


def _age_problem(what: str, age: timedelta, limit: timedelta) -> str | None:
    if age <= limit:
        return None
    return f"{what} {age.total_seconds():.0f} s ago, expected within {limit.total_seconds():g} s"
