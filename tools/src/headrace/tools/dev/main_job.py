"""The main job over servers: found or started, held for one run at a time, and stopped afterwards."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from headrace.tools.dev.exceptions import DevServerError
from headrace.tools.dev.interrupts import ending_by_exit
from headrace.tools.dev.local_run import LocalRun, RunOptions
from headrace.tools.dev.local_stack import LocalStack, places_of
from headrace.tools.dev.processes import PidRecord, ProcessMark
from headrace.tools.dev.providers import Wishes
from headrace.tools.dev.samples import load_samples
from headrace.tools.dev.screen import Screen
from headrace.tools.dev.session import ground
from headrace.tools.dev.state import state_directory
from headrace.tools.dev.supervisor import end_stale


def run_main_job(folder: Path, options: RunOptions, wishes: Wishes) -> int:
    """Run the main job in the working tree that the caller stands in; return the exit code.

    Args:
        folder: The samples.
        options: What is asked for.
        wishes: What is asked of the servers.

    Raises:
        DevServerError, PlatformException, InfraException: Something cannot be brought up; nothing keeps running.
        KeyboardInterrupt, SystemExit: A signal came while servers started; nothing keeps running.
    """
    screen = Screen(Console(highlight=False, markup=False, emoji=False))
    samples, state = load_samples(folder), state_directory()
    with ending_by_exit() as ignore_signals, _only_run(state / "run.pid"):
        for name in end_stale(places_of(state)):
            screen.say(f"stopped {name}, which an earlier run left behind")
        with ground(state, os.environ, wishes) as ready:
            for line in ready.servers.descriptions:
                screen.say(line)
            try:
                return asyncio.run(LocalRun(LocalStack(state, ready, os.environ), options, screen).run(samples))
            finally:
                # The servers stop now, within seconds, and must not be left half way.
                ignore_signals()


@contextmanager
def _only_run(pid_file: Path) -> Iterator[None]:
    """Hold the working tree for one run at a time; a killed run holds nothing.

    Raises:
        DevServerError: Another run is going on.
    """
    record, own = PidRecord.read(pid_file), ProcessMark.of(os.getpid())
    if record is not None and record.server != own:
        raise DevServerError(f"A run of this working tree is going on already (process {record.server.pid}).")
    if own is not None:
        PidRecord(server=own, owner=None, port=0).write(pid_file)
    try:
        yield
    finally:
        pid_file.unlink(missing_ok=True)
