"""Ends servers by their pid files: those that killed commands left behind, or all of a working tree."""

import os
import shutil
from datetime import timedelta
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGQUIT

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.processes import PID_FILE, PidRecord, stop

PATIENCE = timedelta(seconds=10)


def remove_orphans(root: Path) -> int:
    """Ends the servers below a folder whose owner is gone and removes their folders; safe when several do so at once.

    Args:
        root: A folder of server folders of short life; servers of living owners are left alone.

    Returns:
        How many folders were removed.

    Raises:
        DevServerError: A server did not end.
    """
    removed = 0
    for pid_file in root.glob(f"*/{PID_FILE}"):
        record = PidRecord.load(pid_file)
        if record is not None and record.is_orphan():
            stop(record.server, signals=(SIGQUIT, SIGKILL), patience=PATIENCE)
            shutil.rmtree(pid_file.parent, ignore_errors=True)
            removed += 1
    return removed


def stop_servers(root: Path) -> list[str]:
    """Stops every server below a folder in order.

    Args:
        root: A folder of server folders.

    Returns:
        The names of the folders whose servers ran.

    Raises:
        DevServerError: A running command still uses one of them (those before it are stopped), or one did not end.
    """
    stopped = []
    for pid_file in sorted(root.glob(f"*/{PID_FILE}")):
        record = PidRecord.read(pid_file)
        if record is None:
            continue
        if record.owner is not None and record.owner.is_alive() and record.owner.pid != os.getpid():
            raise DevServerError(
                f"The server {pid_file.parent.name} is in use by process {record.owner.pid}; stop that one first."
            )
        # Both servers end in order on SIGINT, PostgreSQL without waiting for its clients to leave.
        stop(record.server, signals=(SIGINT, SIGQUIT, SIGKILL), patience=PATIENCE)
        pid_file.unlink(missing_ok=True)
        stopped.append(pid_file.parent.name)
    return stopped
