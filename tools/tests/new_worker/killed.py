"""A change that signals to its own process after so many files, or else when a command has begun to write."""

import os
import signal
import sys
from pathlib import Path, PurePosixPath

from headrace.tools.new_worker.change import Change
from headrace.tools.new_worker.plan import PlannedFile
from headrace.tools.new_worker.tree import Tree
from tools.tests.new_worker.trees import sample_plan, write


def change_of(tree: Tree) -> Change:
    """Return a change of every sort, with a lock that a command may write."""
    by_command = (PurePosixPath("uv.lock"), PurePosixPath("workers/new/lock.toml"))
    return Change(tree.root, sample_plan(tree), by_command)


def main(root: Path, number: signal.Signals, num_written: int) -> None:
    """Change the tree as far as that."""
    left = iter(range(num_written - 1, -1, -1))

    def count(_: PlannedFile) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), number)

    with change_of(Tree.open(root)).applied(count):
        write(root, "uv.lock", "half a lo")
        os.kill(os.getpid(), number)


if __name__ == "__main__":
    main(Path(sys.argv[1]), signal.Signals[sys.argv[2]], int(sys.argv[3]))
