"""Command line: `python -m headrace.tools.lock strip|hydrate|check|relock [--root DIR] [--uv PROGRAM]`."""

import argparse
import os
import sys
from pathlib import Path

from headrace.tools.lock.commands import COMMANDS
from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.workspace import Workspace


def main(arguments: list[str] | None = None) -> int:
    """Runs one command.

    Returns:
        0, or 1 after one sentence on standard error.
    """
    parser = argparse.ArgumentParser(prog="python -m headrace.tools.lock", description=__doc__)
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the working tree (default: here)")
    parser.add_argument("--uv", default=os.environ.get("UV", "uv"), help="the program uv (default: $UV, or from PATH)")
    given = parser.parse_args(arguments)
    try:
        COMMANDS[given.command](Workspace(root=given.root.resolve(), uv=given.uv))
    except LockError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command line speaks to the terminal
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
