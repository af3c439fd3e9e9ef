"""The main job: `python -m headrace.tools.dev run` brings the whole stack up and sends real webhooks through it."""

from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from headrace.tools.dev.causes import WORDED
from headrace.tools.dev.providers import Wishes
from headrace.tools.dev.samples import FOLDER
from headrace.tools.dev.state import workspace_root

INTERRUPTED = 130

Once = Annotated[bool, typer.Option("--once", help="End when every message has reached its end state.")]
Samples = Annotated[Path | None, typer.Option(metavar="FOLDER", help="The events to publish; examples/webhooks.")]
Timeout = Annotated[
    float, typer.Option(min=1, envvar="HEADRACE_RUN_TIMEOUT", help="Seconds until every delivery must have ended.")
]
DatabasePort = Annotated[
    int | None, typer.Option(min=1, max=65535, help="Where PostgreSQL listens; a free port by default.")
]
RedisPort = Annotated[int | None, typer.Option(min=1, max=65535, help="Where Redis listens; a free port by default.")]
ReceiverPort = Annotated[
    int | None, typer.Option(min=1, max=65535, help="Where the receiver listens; where it last did, by default.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    *,
    once: Once = False,
    samples: Samples = None,
    timeout: Timeout = 120.0,
    database_port: DatabasePort = None,
    redis_port: RedisPort = None,
    receiver_port: ReceiverPort = None,
) -> None:
    """Start servers and workers, send the sample webhooks to a local receiver, and keep running until Ctrl-C.

    HEADRACE_DATABASE_URL and HEADRACE_REDIS_URL name servers to use instead of local ones; the workers' settings are
    taken from the environment too.
    """
    from headrace.tools.dev.local_run import RunOptions  # noqa: PLC0415 - the other commands start without it
    from headrace.tools.dev.main_job import run_main_job  # noqa: PLC0415 - likewise

    began_at = monotonic()
    options = RunOptions(is_once=once, began_at=began_at, ends_at=began_at + timeout, receiver_port=receiver_port)
    wishes = Wishes(database_port=database_port, redis_port=redis_port)
    try:
        code = run_main_job(samples or workspace_root() / FOLDER, options, wishes)
    except WORDED as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(code)
