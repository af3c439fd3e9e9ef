"""What is measured: named samples, kept one by one, and what is told of them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

OURS: Final = "headrace"
"""The system whose measures these are, unless they say otherwise."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that was measured, once or several times.

    Attributes:
        name: What, the same for every system.
        unit: In what; empty for a count or a share.
        samples: Every value in the order in which it was measured; at least one.
        system: Of which system.
        is_detail: Whether it is left to the JSON file: a part of what another measure says.
    """

    name: str
    unit: str
    samples: tuple[float, ...]
    system: str = OURS
    is_detail: bool = False

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(self.samples)

    @property
    def minimum(self) -> float:
        """The smallest value: of a time, what it takes when nothing else runs."""
        return min(self.samples)


def percentile(samples: Sequence[float], percent: int) -> float:
    """Return the value that so many per cent of the samples stay at or below; the only one of a single sample.

    Args:
        samples: At least one.
        percent: 1 to 99.
    """
    if len(samples) == 1:
        return samples[0]
    return statistics.quantiles(samples, n=100, method="inclusive")[percent - 1]


def gathered(runs: Sequence[Sequence[Measure]]) -> tuple[Measure, ...]:
    """Join the measures of several runs: those of one system and name become one, with a sample for each run."""
    joined: dict[tuple[str, str], Measure] = {}
    for measure in (each for run in runs for each in run):
        key = measure.system, measure.name
        before = joined[key].samples if key in joined else ()
        joined[key] = replace(measure, samples=before + measure.samples)
    return tuple(joined.values())


def paired_ratio(ours: Measure, theirs: Measure) -> Measure:
    """Return ours by theirs, run by run: what both met in one run, such as a busy machine, is left out of it.

    Runs that only one of the two has are left out.
    """
    ratios = tuple(one / other for one, other in zip(ours.samples, theirs.samples, strict=False))
    return Measure(f"{ours.name}, by {theirs.system}'s", "x", ratios, ours.system)
