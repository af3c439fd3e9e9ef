"""`headrace status`."""

import typer

from headrace.workers.console.cli.entry import ask
from headrace.workers.console.cli.options import Json
from headrace.workers.console.cli.screen import answer
from headrace.workers.console.views.statuses import status_blocks, status_document


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Show counts of work, the oldest waiting, dead letters, the relay's lag, and the workers alive."""
    from headrace.workers.console.actions.status import read_status  # noqa: PLC0415 - start-up stays fast

    found = ask(context, read_status)
    answer(status_document(found), *status_blocks(found), as_json=as_json)
