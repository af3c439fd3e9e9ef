"""What a bench found: one table for people, one JSON file with every sample for programs."""

import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from headrace.tools.bench.measures import OURS, Measure, percentile

RESULTS: Final = "bench"
"""The folder below the working tree's state folder that takes the JSON files."""

_MET: Final = {True: "yes", False: "no", None: ""}
MOST_ROWS: Final = 20
"""About so many rows of a curve are printed; the JSON file has all of it."""

THOUSANDS_FROM: Final = 1000
DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Bar:
    """A ratio or an amount, and what it is to be.

    Attributes:
        what: What was compared with what.
        value: The median, with its unit in `unit`.
        unit: `x` for a ratio.
        wanted: What it is to be, in words.
        is_met: Whether it is; None for a ratio that is told without being held to anything.
    """

    what: str
    value: float
    unit: str
    wanted: str
    is_met: bool | None


@dataclass(frozen=True, slots=True)
class Point:
    """Samples of one thing at one place of a curve."""

    x: float
    samples: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """One thing that was measured along another.

    Attributes:
        chart: The chart that it belongs to, and the name of its file.
        label: What this curve is, where a chart has several.
        x_name: Along what, with its unit.
        y_name: What, with its unit.
        points: In order.
        is_logarithmic: Whether x grows by factors.
    """

    chart: str
    label: str
    x_name: str
    y_name: str
    points: tuple[Point, ...]
    is_logarithmic: bool = False


@dataclass(slots=True)
class Report:
    """Everything that one command found.

    Attributes:
        title: What ran.
        circumstances: Machine, versions, settings of servers and of systems; whatever the numbers depend on.
        measures: In the order in which they were measured.
        bars: What they were compared with.
        curves: What is drawn rather than tabulated.
        remarks: Sentences on what was left out, and why.
    """

    title: str
    circumstances: Mapping[str, Any] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def show(self, console: Console) -> None:
        """Print the measures, then the bars, then the remarks."""
        if self.measures:
            console.print(_measure_table(self.title, self.measures))
        for curve in self.curves:
            console.print(_curve_table(curve))
        if self.bars:
            console.print(_bar_table(self.bars))
        for remark in self.remarks:
            console.print(remark, highlight=False, markup=False)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON holds it."""
        return {
            "title": self.title,
            "circumstances": dict(self.circumstances),
            "measures": [_measure_json(each) for each in self.measures],
            "bars": [
                {"what": b.what, "value": b.value, "unit": b.unit, "wanted": b.wanted, "is_met": b.is_met}
                for b in self.bars
            ],
            "curves": [asdict(each) for each in self.curves],
            "remarks": list(self.remarks),
        }

    def write(self, path: Path) -> None:
        """Write the JSON file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(self.as_json(), indent=1, default=_plain) + "\n", encoding="utf-8")
        draft.replace(path)


def _plain(value: object) -> object:
    """Return what JSON has no word for: a dataclass of circumstances, a path."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def told(value: float) -> str:
    """Return a number with three digits that matter, and thousands set apart."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= THOUSANDS_FROM:
        return f"{value:,.0f}"
    digits = DIGITS - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{max(0, min(digits, 6))}f}"


def _measure_json(measure: Measure) -> dict[str, Any]:
    return {
        "system": measure.system,
        "name": measure.name,
        "unit": measure.unit,
        "median": measure.median,
        "minimum": measure.minimum,
        "p99": percentile(measure.samples, 99),
        "samples": list(measure.samples),
        "is_detail": measure.is_detail,
    }


def _measure_table(title: str, measures: Sequence[Measure]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for name in ("median", "minimum", "p99", "samples"):
        table.add_column(name, justify="right")
    table.add_column("unit")
    for each in (measure for measure in measures if not measure.is_detail):
        name = each.name if each.system == OURS else f"{each.name} ({each.system})"
        numbers = (each.median, each.minimum, percentile(each.samples, 99))
        table.add_row(name, *map(told, numbers), str(len(each.samples)), each.unit)
    return table


def _curve_table(curve: Curve) -> Table:
    table = Table(title=f"{curve.chart}: {curve.label}", title_justify="left")
    table.add_column(curve.x_name, justify="right")
    table.add_column(curve.y_name, justify="right")
    table.add_column("samples", justify="right")
    for point in curve.points[:: max(1, len(curve.points) // MOST_ROWS)]:
        table.add_row(told(point.x), told(statistics.median(point.samples)), str(len(point.samples)))
    return table


def _bar_table(bars: Sequence[Bar]) -> Table:
    table = Table(title="bars", title_justify="left")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("bar")
    table.add_column("met")
    for bar in bars:
        table.add_row(bar.what, f"{told(bar.value)} {bar.unit}", bar.wanted, _MET[bar.is_met])
    return table
