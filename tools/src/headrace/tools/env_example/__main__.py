"""`python -m headrace.tools.env_example [--check]`: write the `.env.example` files, or say whether they are true.

One for the working tree, with what all workers share, and one in the folder of each program below `workers/`, so that
another worker is another file.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from headrace.tools.env_example.render import render_own, render_shared
from headrace.tools.workers.settings_classes import settings_class
from headrace.workers.kit.settings import WorkerSettings

FILE: Final = ".env.example"


def texts(root: Path) -> Iterator[tuple[Path, str]]:
    """Return each file of the tree with what must be in it."""
    yield root / FILE, render_shared(WorkerSettings)
    for project in sorted(root.glob("workers/*/pyproject.toml")):
        if "scripts" in tomllib.loads(project.read_text(encoding="utf-8"))["project"]:
            name = project.parent.name
            yield project.parent / FILE, render_own(name, settings_class(name))


def main(argv: list[str] | None = None) -> int:
    """Write the files, or with `--check` compare them; return 0, or 1 where one is not true."""
    parser = argparse.ArgumentParser(prog="env_example", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is not true")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the working tree")
    arguments = parser.parse_args(argv)
    untrue = [(file, text) for file, text in texts(arguments.root) if not _says(file, text)]
    for file, text in untrue:
        if arguments.check:
            shown = file.relative_to(arguments.root)
            sys.stderr.write(f"{shown} does not match the settings class: run `make env-example`\n")
        else:
            file.write_text(text, encoding="utf-8")
    return 1 if arguments.check and untrue else 0


def _says(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
