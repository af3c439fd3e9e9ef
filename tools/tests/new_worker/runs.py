"""Runs of the generator over a small tree; as a program, one run in a process of its own."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from headrace.tools.new_worker.command import Intention, Options, Run
from headrace.tools.new_worker.plan import Plan, PlannedFile
from headrace.tools.new_worker.report import ExitCode, Report
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.trees import sample_plan, small_tree, write

GATE = "check:\n\t@echo gate has run\n"
LOCKING = '#!/bin/sh\necho "version = 2" > uv.lock\n'


class CrashError(Exception):
    """What a test throws in."""


class Crash:
    """Ends a change once it has written so many files."""

    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self, _: PlannedFile) -> None:
        self._left -= 1
        if self._left == 0:
            raise CrashError


def with_lock(root: Path, uv: str = LOCKING, gate: str = GATE) -> Tree:
    """Make a small tree whose uv is a script."""
    tree = small_tree(root, **{"uv.lock": "version = 1\n", "nix/.keep": "", "Makefile": gate})
    write(root, ".headrace/bin/uv", uv)
    (root / ".headrace/bin/uv").chmod(0o755)
    return tree


def run(root: Path, plan: Callable[[Tree], Plan] = sample_plan, *, verify: bool = True, dry: bool = False) -> ExitCode:
    """Carry a plan out, telling it in lines."""
    options = Options(root=root, is_dry_run=dry, verify=verify)
    return Run(options, Report(as_json=False)).carry_out(lambda tree: Intention("new", plan(tree), ("edit it",)))


if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever a shell in the background has made of it
    os.environ["RUN"] = str(os.getpid())  # for the commands that it starts to signal to
    sys.exit(run(Path(sys.argv[1])))
