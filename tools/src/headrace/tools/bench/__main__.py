"""`python -m headrace.tools.bench`: how fast the queue is, what an item costs, and how it compares."""

import asyncio
import json
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from uvloop import new_event_loop

from headrace.tools.bench.exceptions import BenchError
from headrace.tools.bench.explain import plans
from headrace.tools.bench.hot_statements import DrainRuns, drain_and_show
from headrace.tools.bench.markdown import tables
from headrace.tools.bench.peers import comparing
from headrace.tools.bench.peers.systems import PEERS
from headrace.tools.bench.report import RESULTS, Report
from headrace.tools.bench.scaling import axes, scale
from headrace.tools.bench.smoke import run_smoke
from headrace.tools.bench.soak import soak
from headrace.tools.bench.suite import FULL, QUICK, WORKLOADS, Sizes, run_suite
from headrace.tools.dev.state import state_directory

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)

WIDTH: Final = 120
CHARTS: Final = tuple(axis.chart for axis in axes(1.0))
QUICK_SHARE: Final = 0.1
PEER_NAMES: Final = tuple(peer.name for peer in PEERS)

Json = Annotated[Path | None, typer.Option("--json", help="Where the JSON goes; below .headrace/bench by default.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print the plans of the hot statements afterwards.")]
Quick = Annotated[bool, typer.Option("--quick", help="Small amounts, for the shape of it.")]
Runs = Annotated[int, typer.Option(min=1, max=100, help="How often; the table has medians.")]


@app.callback()
def bench() -> None:
    """Measure the queue over servers that the bench starts itself."""


@app.command("all")
def run_all(*, quick: Quick = False, explain: Explain = False, json_file: Json = None) -> None:
    """Run every workload; below five minutes."""
    _suite(tuple(WORKLOADS), json_file, is_quick=quick, explains=explain)


@app.command("only")
def run_only(
    workloads: Annotated[list[str], typer.Argument(help=f"Of {', '.join(WORKLOADS)}.")],
    *,
    quick: Quick = False,
    explain: Explain = False,
    json_file: Json = None,
) -> None:
    """Run some workloads, in the given order."""
    if unknown := sorted(set(workloads) - set(WORKLOADS)):
        raise typer.BadParameter(f"{', '.join(unknown)}: expected {', '.join(WORKLOADS)}")
    _suite(tuple(workloads), json_file, is_quick=quick, explains=explain)


@app.command()
def explain(*, quick: Quick = False) -> None:
    """Print the plans of the hot statements over a large table, and the pages that they touch."""
    for plan in _run(_plans(Path.cwd(), QUICK if quick else FULL)):
        sys.stdout.write(f"{plan}\n\n")


@app.command()
def drain(
    items: Annotated[int, typer.Option(min=200, max=10_000_000, help="Items of one run.")] = 20_000,
    processes: Annotated[int, typer.Option(min=1, max=16, help="Worker processes.")] = 1,
    capacity: Annotated[int, typer.Option(min=1, max=500, help="Items that each runs at once.")] = 100,
    orgs: Annotated[int, typer.Option(min=1, max=1000, help="Whose items they are.")] = 10,
    runs: Runs = 3,
    statements: Annotated[int, typer.Option(min=0, max=100, help="Show so many of the last run's statements.")] = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE for the workers' environment.")
    ] = None,
) -> None:
    """Drain items that do nothing, with worker processes as they are deployed."""
    environment = dict(pair.split("=", 1) for pair in settings or ())
    plan = DrainRuns(items, processes, capacity, orgs, runs, statements, environment)
    _end(_run(drain_and_show(Path.cwd(), plan)), None)


@app.command()
def peers(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(PEER_NAMES)}; all of them by default.")
    ] = None,
    *,
    quick: Quick = False,
    json_file: Json = None,
) -> None:
    """Run ours and each peer in turns; peers are installed into folders that are thrown away."""
    root = Path.cwd()
    chosen = tuple(names or PEER_NAMES)
    if unknown := sorted(set(chosen) - set(PEER_NAMES)):
        raise typer.BadParameter(f"{', '.join(unknown)}: expected {', '.join(PEER_NAMES)}")
    sizes = comparing.QUICK if quick else comparing.FULL
    _end(_run(comparing.compare(root, sizes, chosen, told=_tell)), json_file or _result_file(root, "peers"))


@app.command()
def scaling(
    charts: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(CHARTS)}; all of them by default.")] = None,
    *,
    runs: Runs = 3,
    quick: Quick = False,
    json_file: Json = None,
) -> None:
    """Measure how the drain's rate goes with capacity, processes, payload and backlog."""
    root, share = Path.cwd(), QUICK_SHARE if quick else 1.0
    work = scale(root, num_runs=runs, share=share, names=tuple(charts or CHARTS), told=_tell)
    _end(_run(work), json_file or _result_file(root, "scaling"))


@app.command("soak")
def soak_command(
    seconds: Annotated[float, typer.Option(min=5, max=86_400, help="How long.")] = 1200,
    every: Annotated[float, typer.Option(min=0.5, max=600, help="Seconds between two samples.")] = 5,
    json_file: Json = None,
) -> None:
    """Let items come at 70 % of the drain's rate for a long time; sample what should stay flat."""
    root = Path.cwd()
    _end(_run(soak(root, seconds, every=every, told=_tell)), json_file or _result_file(root, "soak"))


@app.command("draw")
def draw_command(
    reports: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON files with curves.")],
    folder: Annotated[Path, typer.Option(help="Where the SVG files go.")] = Path("docs/performance"),
) -> None:
    """Draw the curves of reports; needs the dependency group `plots`."""
    try:
        from headrace.tools.bench.drawing import draw  # noqa: PLC0415 - matplotlib is there for who draws
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{error.name} is missing: uv sync --group plots, or make bench-plots, brings it\n")
        raise typer.Exit(1) from error
    for report in reports:
        for path in draw(json.loads(report.read_text(encoding="utf-8")), folder):
            sys.stdout.write(f"{path}\n")


@app.command()
def table(report: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A JSON file.")]) -> None:
    """Print a report as Markdown, for docs/performance.md."""
    sys.stdout.write(tables(json.loads(report.read_text(encoding="utf-8"))) + "\n")


@app.command()
def smoke(
    num_items: Annotated[int, typer.Option(min=10, max=10_000, help="Items, enqueued one by one.")] = 300,
    idle_seconds: Annotated[int, typer.Option(min=1, max=120, help="How long the idle worker is watched.")] = 5,
) -> None:
    """Enqueue items at rest, one by one, and watch a worker do nothing; a minute at most."""
    _end(_run(run_smoke(Path.cwd(), num_items, idle_seconds)), None)


def _suite(names: tuple[str, ...], json_file: Path | None, *, is_quick: bool, explains: bool) -> None:
    root, sizes = Path.cwd(), QUICK if is_quick else FULL
    report = _run(run_suite(root, sizes, names, told=_tell))
    if explains:
        _tell("plans")
        report.remarks += _run(_plans(root, sizes))
    _end(report, json_file or _result_file(root, "headrace"))


async def _plans(root: Path, sizes: Sizes) -> tuple[str, ...]:
    return await plans(root, num_settled=sizes.num_settled, num_future=sizes.num_future, num_orgs=sizes.num_large_orgs)


def _result_file(root: Path, name: str) -> Path:
    return state_directory(root) / RESULTS / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"


def _tell(what: str) -> None:
    sys.stderr.write(f"{what} ...\n")


def _end(report: Report, json_file: Path | None) -> None:
    report.show(Console(width=WIDTH))
    if json_file is not None:
        report.write(json_file)
        sys.stderr.write(f"every sample is in {json_file}\n")


def _run[T](work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(work, loop_factory=new_event_loop)
    except BenchError as error:
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(1) from error


if __name__ == "__main__":
    app()
