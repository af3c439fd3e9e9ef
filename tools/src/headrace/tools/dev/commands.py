"""Command line of the local servers: `python -m headrace.tools.dev servers|env|exec|clean`."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated

import typer

from headrace.om.storage.roles import LOGIN_NAMES
from headrace.tools.dev.compose import ComposeProject
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.interrupts import ending_by_exit
from headrace.tools.dev.orphans import stop_servers
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.providers import Wishes
from headrace.tools.dev.resetting import forget_data, remove_containers
from headrace.tools.dev.session import ground
from headrace.tools.dev.state import TEST_SERVERS, servers_directory, state_directory
from headrace.tools.dev.urls import where_all_is

app = typer.Typer(help="Local PostgreSQL and Redis for development.", no_args_is_help=True)
servers_app = typer.Typer(help="Servers that stay until they are stopped.", no_args_is_help=True)
app.add_typer(servers_app, name="servers")

DatabasePort = Annotated[
    int | None, typer.Option(min=1, max=65535, help="Where PostgreSQL listens; a free port by default.")
]
RedisPort = Annotated[int | None, typer.Option(min=1, max=65535, help="Where Redis listens; a free port by default.")]


@contextmanager
def sentences() -> Iterator[None]:
    """Turns the local stack's error into one sentence on standard error and exit code 1."""
    try:
        yield
    except DevServerError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@servers_app.command("start")
def start_servers(database_port: DatabasePort = None, redis_port: RedisPort = None) -> None:
    """Start the servers, create the three logins, and leave the servers running."""
    wishes = Wishes(database_port=database_port, redis_port=redis_port, is_persistent=True)
    with sentences(), ground(state_directory(), os.environ, wishes) as ready:
        for line in ready.servers.descriptions:
            typer.echo(line)
        typer.echo(f"logins: {', '.join(LOGIN_NAMES.values())}")


@servers_app.command("stop")
def stop_all() -> None:
    """Stop the servers of this working tree, whichever command started them, unless that command still runs."""
    with sentences():
        stopped = stop_servers(servers_directory(state_directory(), server_identity()))
        stopped += remove_containers(_project(), data=False)
        typer.echo(f"stopped: {', '.join(stopped) or 'nothing was running'}")


@servers_app.command("reset")
def reset_all() -> None:
    """Stop the servers and forget their data: the next start begins with an empty database."""
    with sentences():
        forget_data(state_directory(), _project())
        typer.echo("the local data is gone")


@app.command("urls")
def print_urls() -> None:
    """Print where everything of this working tree listens that runs now; no secrets."""
    with sentences():
        for line in where_all_is(_project(), os.environ):
            typer.echo(line)


@app.command("compose", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run_compose(context: typer.Context) -> None:
    """Run docker compose (after --) over servers and workers, with every variable that its files ask for."""
    project = _project()
    with sentences():
        if (problem := project.problem()) is not None:
            raise DevServerError(f"Containers cannot be used: {problem}.")
    raise typer.Exit(_run(project.full_argv(context.args), project.environment()))


def _project() -> ComposeProject:
    state = state_directory()
    return ComposeProject(root=state.parent, state=state)


@app.command("logins")
def create_the_logins() -> None:
    """Create the three logins in the database (of HEADRACE_DATABASE_URL, or of this working tree)."""
    with sentences(), ground(state_directory(), os.environ):
        typer.echo(f"logins: {', '.join(LOGIN_NAMES.values())}")


@app.command("env")
def print_environment() -> None:
    """Print shell commands that set what a process needs; `servers start` must have run before."""
    with sentences(), ground(state_directory(), os.environ, Wishes(is_running=True)) as ready:
        for name, value in ready.environment().items():
            typer.echo(f"export {name}={shlex.quote(value)}")


@app.command("exec", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run_command(context: typer.Context) -> None:
    """Run a command (after --) with servers and logins ready and its settings in the environment."""
    if not context.args:
        raise typer.BadParameter("give the command to run after --")
    with ending_by_exit(), sentences(), ground(state_directory(), os.environ) as ready:
        code = _run(context.args, {**os.environ, **ready.environment()})
    raise typer.Exit(code)


@app.command()
def clean() -> None:
    """Stop the servers and remove their data, those of tests too."""
    with sentences():
        state = state_directory()
        forget_data(state, _project())
        servers = servers_directory(state, server_identity())
        stop_servers(servers / TEST_SERVERS)
        shutil.rmtree(servers, ignore_errors=True)


def _run(command: list[str], environment: Mapping[str, str]) -> int:
    try:
        return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 - the developer's own
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be run: {error.strerror}.\n")
        return 127
