"""`python -m headrace.tools.bench smoke`: how quickly an item is picked up, and what an idle worker costs."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from headrace.tools.bench.smoke import Smoke, run_smoke
from headrace.tools.dev import DevServerError

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)

NumItems = Annotated[int, typer.Option(min=10, max=10_000, help="Items, enqueued one by one.")]
IdleSeconds = Annotated[int, typer.Option(min=1, max=120, help="How long the idle worker is watched.")]


@app.callback()
def bench() -> None:
    """Measure the queue over servers that the bench starts itself."""


@app.command()
def smoke(num_items: NumItems = 300, idle_seconds: IdleSeconds = 5) -> None:
    """Enqueue items at rest, one by one, and watch a worker do nothing; a minute at most."""
    try:
        result = asyncio.run(run_smoke(Path.cwd(), num_items, idle_seconds))
    except DevServerError as error:
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(1) from error
    Console().print(_table(result))


def _table(result: Smoke) -> Table:
    table = Table(title="one worker process, PostgreSQL with its default durability", title_justify="left")
    table.add_column("what")
    table.add_column("value", justify="right")
    for name, value in result.rows():
        table.add_row(name, value)
    return table


if __name__ == "__main__":
    app()
