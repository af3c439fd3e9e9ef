"""What handlers of test workers write down: each run's begin and end, on a clock that all processes share."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from uuid import UUID, uuid4

from headrace.om.base import utcnow


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a handler.

    Attributes:
        item_id: What it worked on.
        pid: The process.
        began: Seconds on the host's monotonic clock.
        ended: Likewise; None when no end was written: the run goes on, or its process was killed.
        how: "finished", or the class of what the handler raised; None without an end.
        wall_clock: What the process took the time of the begin to be, in seconds of the epoch.
    """

    item_id: UUID
    pid: int
    began: float
    ended: float | None
    how: str | None
    wall_clock: float


class Ledger:
    """A file that many processes append lines to. Lines are short, so that each append is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, item_id: UUID) -> str:
        """Write down that a run begins; return its name, for `end`."""
        name = uuid4().hex
        self._append(run=name, item=str(item_id), pid=os.getpid(), wall=utcnow().timestamp())
        return name

    def end(self, name: str, how: str) -> None:
        """Write down that a run ends."""
        self._append(run=name, how=how)

    def runs(self) -> tuple[Run, ...]:
        """Return the runs in the order in which they began."""
        begins: dict[str, dict[str, object]] = {}
        ends: dict[str, dict[str, object]] = {}
        for line in self._path.read_text(encoding="ascii").splitlines() if self._path.exists() else ():
            entry = json.loads(line)
            (begins if "item" in entry else ends)[entry["run"]] = entry
        return tuple(_run(begin, ends.get(name, {})) for name, begin in begins.items())

    def runs_of(self, item_id: UUID) -> tuple[Run, ...]:
        """Return one item's runs in the order in which they began."""
        return tuple(run for run in self.runs() if run.item_id == item_id)

    def num_open(self, pid: int) -> int:
        """Return how many runs of a process have begun and not ended."""
        return sum(run.pid == pid and run.ended is None for run in self.runs())

    def num_finished(self) -> int:
        """Return how many runs came to the handler's own end."""
        return sum(run.how == "finished" for run in self.runs())

    def overlapping(self, killed: Mapping[int, float] | None = None) -> tuple[tuple[Run, Run], ...]:
        """Return pairs of runs of one item that were under way at the same time.

        Args:
            killed: When which process had ended at the latest; that ends its runs.
        """
        by_item: dict[UUID, list[Run]] = {}
        for run in self.runs():
            by_item.setdefault(run.item_id, []).append(run)
        return tuple(pair for runs in by_item.values() for pair in _overlaps(runs, killed or {}))

    def _append(self, **entry: object) -> None:
        line = json.dumps({"at": time.monotonic(), **entry}) + "\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode("ascii"))
        finally:
            os.close(file)


def _run(begin: Mapping[str, object], end: Mapping[str, object]) -> Run:
    return Run(
        item_id=UUID(str(begin["item"])),
        pid=int(str(begin["pid"])),
        began=float(str(begin["at"])),
        ended=float(str(end["at"])) if end else None,
        how=str(end["how"]) if end else None,
        wall_clock=float(str(begin["wall"])),
    )


def _overlaps(runs: Sequence[Run], killed: Mapping[int, float]) -> list[tuple[Run, Run]]:
    ordered = sorted(runs, key=lambda run: run.began)
    return [(one, two) for one, two in pairwise(ordered) if two.began < _over_by(one, killed)]


def _over_by(run: Run, killed: Mapping[int, float]) -> float:
    return killed.get(run.pid, float("inf")) if run.ended is None else run.ended
