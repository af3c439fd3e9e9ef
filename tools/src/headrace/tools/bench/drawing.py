"""Draws the curves of a report as SVG files; needs the dependency group `plots`."""

import statistics
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

SIZE = (6.4, 3.6)


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Draw each chart of a report, as its JSON holds it, into a file `<chart>.svg`; return the files.

    A chart shows each curve's medians, and where a point has several samples, all of them.
    """
    mpl.rcParams["svg.hashsalt"] = "headrace"  # the same curves give the same file
    folder.mkdir(parents=True, exist_ok=True)
    curves = sorted(report["curves"], key=lambda each: each["chart"])
    charts = {chart: list(each) for chart, each in groupby(curves, key=lambda each: each["chart"])}
    return [_drawn(chart, each, folder / f"{chart}.svg") for chart, each in charts.items()]


def _drawn(chart: str, curves: Sequence[dict[str, Any]], path: Path) -> Path:
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    for curve in curves:
        _plot(axes, curve)
    axes.set(title=chart, xlabel=curves[0]["x_name"], ylabel=curves[0]["y_name"])
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    if curves[0]["is_logarithmic"]:
        axes.set_xscale("log")
    if len(curves) > 1:
        axes.legend(fontsize="small")
    figure.savefig(path, format="svg", metadata={"Date": None})
    return path


def _plot(axes: Any, curve: dict[str, Any]) -> None:  # noqa: ANN401 - matplotlib may not be there to be checked
    points = curve["points"]
    xs = [point["x"] for point in points]
    (line,) = axes.plot(
        xs, [statistics.median(point["samples"]) for point in points], label=curve["label"], linewidth=1.2
    )
    if any(len(point["samples"]) > 1 for point in points):
        each = [(point["x"], sample) for point in points for sample in point["samples"]]
        axes.scatter(*zip(*each, strict=True), s=10, alpha=0.6, color=line.get_color())
