"""How a worker is, from its own memory: when each of its loops last moved, and what is wrong with that."""

from dataclasses import dataclass
from datetime import timedelta

from headrace.infra.background.timing import ClockInterface


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """From when on a worker counts as unwell.

    Attributes:
        failed_beats: This many failed liveness beats in a row.
        poll_age: The last good look at the queue is older than this.
        pauses: Whether failed beats also stop the claiming.
    """

    failed_beats: int
    poll_age: timedelta
    pauses: bool


class LoopState:
    """When the loops last moved; each loop notes its own. Reading it does no I/O.

    Ages count from the start, so that a loop that never moved is seen too.
    """

    def __init__(self, clock: ClockInterface, limits: HealthLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._moved_at = dict.fromkeys(("poll", "beat", "sweep"), clock.monotonic())
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

    def note_beat(self, *, is_good: bool) -> None:
        """A liveness beat was read back, or was not."""
        self.num_failed_beats = 0 if is_good else self.num_failed_beats + 1
        if is_good:
            self._moved_at["beat"] = self._clock.monotonic()

    def age(self, loop: str) -> timedelta:
        """Return how long ago a loop (`poll`, `beat` or `sweep`) last moved."""
        return self._clock.elapsed(self._moved_at[loop])

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong, a sentence each; empty when the worker is well."""
        return tuple(problem for problem in (self._beat_problem(), self._poll_problem()) if problem)

    def _beat_problem(self) -> str | None:
        if not self.has_lost_liveness:
            return None
        paused = "; claiming is paused" if self._limits.pauses else ""
        return f"{self.num_failed_beats} liveness beats in a row failed{paused}"

    def _poll_problem(self) -> str | None:
        age, limit = self.age("poll"), self._limits.poll_age
        if age <= limit:
            return None
        return (
            f"the queue was last looked at {age.total_seconds():.0f} s ago, expected within {limit.total_seconds():g} s"
        )
