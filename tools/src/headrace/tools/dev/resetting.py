"""Ends what a working tree keeps running, and forgets what it stored."""

import shutil
from pathlib import Path

from headrace.tools.dev.compose import ComposeProject
from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.orphans import stop_servers
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.processes import PidRecord
from headrace.tools.dev.state import servers_directory
from headrace.workers.console.settings import LOCAL_ENV_FILE

_SERVERS = ("postgres", "redis")


def remove_containers(project: ComposeProject, *, data: bool) -> list[str]:
    """Remove the containers of a working tree where an engine answers.

    Args:
        project: The working tree's.
        data: Whether what they stored goes too.

    Returns:
        The servers that ran; empty too where containers cannot be used.

    Raises:
        DevServerError: The engine answered, and refused.
    """
    if project.problem() is not None:
        return []
    running = sorted(f"{service} (container)" for service in project.running())
    if running or data:
        project.remove(data=data)
    return running


def forget_data(state: Path, project: ComposeProject) -> None:
    """Stop the servers of a working tree and remove what they stored, and the API key that was made in it.

    Raises:
        DevServerError: A running command uses the servers; nothing is lost then.
    """
    _refuse_while_running(state)
    servers = servers_directory(state, server_identity())
    stop_servers(servers)
    remove_containers(project, data=True)
    for name in _SERVERS:
        shutil.rmtree(servers / name, ignore_errors=True)
    (state / LOCAL_ENV_FILE.name).unlink(missing_ok=True)


def _refuse_while_running(state: Path) -> None:
    record = PidRecord.read(state / "run.pid")
    if record is not None:
        raise DevServerError(f"A run of this working tree is going on (process {record.server.pid}); end it first.")
