"""`headrace worker ...`."""

import os
from typing import Annotated

import typer

from headrace.workers.console.cli.entry import entry_of
from headrace.workers.console.cli.options import Json
from headrace.workers.console.cli.screen import Rows, answer
from headrace.workers.console.worker_programs import installed_workers

group = typer.Typer(help="Worker processes.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The worker's name; `headrace worker list` shows them.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="worker")


@group.command("list")
def list_workers(*, as_json: Json = False) -> None:
    """List the workers that are installed here."""
    found = installed_workers()
    document = {"workers": [{"name": each.name, "program": each.program} for each in found.values()]}
    rows = [(each.name, each.program) for each in found.values()]
    answer(document, Rows(("NAME", "PROGRAM"), rows, empty="no worker is installed here"), as_json=as_json)


@group.command("run")
def run_worker(context: typer.Context, name: Name) -> None:
    """Become a worker process, until Ctrl-C or SIGTERM; a local run's settings stand in for what is not set."""
    from headrace.workers.console.local_env import read_variables  # noqa: PLC0415 - start-up stays fast
    from headrace.workers.console.settings import LOCAL_ENV_FILE  # noqa: PLC0415 - start-up stays fast

    found = installed_workers()
    if name not in found:
        known = ", ".join(found) or "none"
        raise typer.BadParameter(f"no worker {name!r} is installed here; installed are: {known}", param_hint="NAME")
    entry_of(context).execute(found[name].argv(), {**read_variables(LOCAL_ENV_FILE), **os.environ})
