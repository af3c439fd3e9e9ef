"""The bars that this project set itself, each a ratio of one run or an amount."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headrace.tools.bench.measures import OURS, Measure, paired_ratio, percentile
from headrace.tools.bench.report import Bar

MAX_RSS_MIB: Final = 110.0


@dataclass(frozen=True, slots=True)
class RatioBar:
    """A bar for one measure of ours by another, of ours or of a peer's.

    Attributes:
        what: Which measure.
        by: By which.
        bound: What the median of the runs' ratios is to be.
        system: Whose the other one is.
        is_least: Whether the bound is a least, else a most.
    """

    what: str
    by: str
    bound: float
    system: str = OURS
    is_least: bool = True

    def judge(self, ours: Measure, other: Measure) -> Bar:
        """Return the bar with what was measured."""
        value = paired_ratio(ours, other).median
        whose = f"{self.system}'s" if self.system != OURS else self.by
        wanted = f"{'>=' if self.is_least else '<='} {self.bound:g} x {whose}"
        return Bar(self.what, value, "x", wanted, value >= self.bound if self.is_least else value <= self.bound)


@dataclass(frozen=True, slots=True)
class AmountBar:
    """A bar for an amount, at most so much.

    Attributes:
        what: Which measure.
        most: At most this much.
        of: What is taken of the samples.
        told: How that is called.
    """

    what: str
    most: float
    of: Callable[[Measure], float]
    told: str

    def judge(self, measure: Measure) -> Bar:
        """Return the bar with what was measured."""
        value = self.of(measure)
        return Bar(f"{self.what}, {self.told}", value, measure.unit, f"<= {self.most:g}", value <= self.most)


def _median(measure: Measure) -> float:
    return measure.median


def _p99(measure: Measure) -> float:
    return percentile(measure.samples, 99)


RATIOS: Final = (
    RatioBar("enqueue one by one", "a bare INSERT in its own transaction", 0.9),
    RatioBar("bulk enqueue", "COPY into the same table", 0.7),
    RatioBar("drain, two processes: rate", "drain, one process: rate", 1.0),
    RatioBar("claim of 1 from a large table", "claim of 1 from an empty table", 1.3, is_least=False),
    RatioBar("claim of 100 from a large table", "claim of 100 from an empty table", 1.3, is_least=False),
    RatioBar("claim of 1 from a large table: pages", "claim of 1 from an empty table: pages", 1.5, is_least=False),
    RatioBar("claim of 100 from a large table: pages", "claim of 100 from an empty table: pages", 1.5, is_least=False),
)

AMOUNTS: Final = (
    AmountBar("pick-up at rest", 15.0, _p99, "p99"),
    AmountBar("drain, one process: commits", 0.1, _median, "median"),
    AmountBar("drain, one process: memory of a worker, peak", MAX_RSS_MIB, _median, "median"),
    AmountBar("idle worker: share of a core", 1.0, _median, "median"),
    AmountBar("start of a worker until it is ready", 1.5, _median, "median"),
)


PEER_BOUNDS: Final[dict[tuple[str, str], float]] = {
    ("drain: rate", "pgqueuer"): 1.5,
    ("drain: rate", "graphile-worker"): 1.0,
    ("pick-up at rest: p50", "pgqueuer"): 0.5,
    ("pick-up at rest: p99", "pgqueuer"): 0.5,
    ("pick-up at rest: p50", "graphile-worker"): 1.0,
    ("pick-up at rest: p99", "graphile-worker"): 1.0,
    ("bulk enqueue", "pgqueuer"): 1.0,
}
"""What ours by a peer's is to be: of rates at least, of times at most."""

LATENCY: Final = "pick-up"


def peer_bars(ours: Sequence[Measure], theirs: Sequence[Measure]) -> Iterator[Bar]:
    """Yield what ours is by a peer's, for every measure that both have; measured in turns, so run by run."""
    found = {each.name: each for each in ours}
    for other in theirs:
        if (one := found.get(other.name)) is None or not other.minimum:
            continue
        bound = PEER_BOUNDS.get((other.name, other.system))
        is_least = not other.name.startswith(LATENCY)
        value = paired_ratio(one, other).median
        wanted = "" if bound is None else f"{'>=' if is_least else '<='} {bound:g} x {other.system}'s"
        is_met = None if bound is None else (value >= bound if is_least else value <= bound)
        yield Bar(f"{other.name}, by {other.system}'s", value, "x", wanted, is_met)


def bars_of(measures: Sequence[Measure]) -> Iterator[Bar]:
    """Yield every bar whose measures are there."""
    found = {(each.system, each.name): each for each in measures}
    for ratio in RATIOS:
        ours, other = found.get((OURS, ratio.what)), found.get((ratio.system, ratio.by))
        if ours is not None and other is not None:
            yield ratio.judge(ours, other)
    for amount in AMOUNTS:
        if (measure := found.get((OURS, amount.what))) is not None:
            yield amount.judge(measure)
