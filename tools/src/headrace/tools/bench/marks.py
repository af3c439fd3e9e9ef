"""What a worker under test writes while it handles items, one line each: how many so far, and when.

The same for every system, so that rates are comparable: `<items entered so far> <nanoseconds since 1970>`. Ours may add
how long items took from their enqueue to their handler, since the last mark: `<median> <p99>`, in microseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

from headrace.tools.bench.exceptions import BenchError

NUM_FIELDS: Final = (2, 4)


@dataclass(frozen=True, slots=True)
class Mark:
    """So many items had been entered at an instant; the latencies, in microseconds, are zero where none are told."""

    num_items: int
    at_ns: int
    median_us: int = 0
    p99_us: int = 0

    @classmethod
    def read(cls, line: str) -> Self:
        """Return the mark that a line is.

        Raises:
            BenchError: It is none.
        """
        fields = line.split()
        if len(fields) not in NUM_FIELDS or not all(field.isdecimal() for field in fields):
            raise BenchError(f"A worker under test wrote {line.strip()!r}; expected a count and nanoseconds.")
        return cls(*map(int, fields))


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in which every process was at work.

    Attributes:
        began_ns: When the last of them had warmed up.
        ended_ns: When the first of them wrote its last mark.
        num_items: What all of them entered in between.
    """

    began_ns: int
    ended_ns: int
    num_items: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.ended_ns - self.began_ns) / 1e9

    @property
    def items_per_second(self) -> float:
        """The rate of all processes together."""
        return self.num_items / self.seconds


def window(processes: Sequence[Sequence[Mark]], *, skipped: int) -> Window:
    """Return the stretch in which all processes were at work.

    Args:
        processes: The marks of each process, as written.
        skipped: Items of each process that belong to its warm-up.

    Raises:
        BenchError: There is no such stretch: a process had too little to do.
    """
    warm = [[mark for mark in marks if mark.num_items >= skipped] for marks in processes]
    if not all(len(marks) > 1 for marks in warm):
        counts = ", ".join(str(marks[-1].num_items if marks else 0) for marks in processes)
        raise BenchError(f"Too few items to measure a rate: the processes entered {counts}; give more items.")
    began = max(marks[0].at_ns for marks in warm)
    ended = min(marks[-1].at_ns for marks in warm)
    if ended <= began:
        raise BenchError("The processes were never at work at once; give more items.")
    return Window(began, ended, sum(_at(marks, ended) - _at(marks, began) for marks in warm))


def _at(marks: Sequence[Mark], instant_ns: int) -> float:
    """Return how many items a process had entered at an instant between two of its marks."""
    for before, after in pairwise(marks):
        if before.at_ns <= instant_ns <= after.at_ns:
            share = (instant_ns - before.at_ns) / max(after.at_ns - before.at_ns, 1)
            return before.num_items + share * (after.num_items - before.num_items)
    return float(marks[0].num_items if instant_ns < marks[0].at_ns else marks[-1].num_items)
