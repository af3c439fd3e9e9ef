"""`python -m headrace.tools.env_example [--check]`: write `.env.example`, or say whether it is true."""

import argparse
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from headrace.infra.settings import ProcessSettings
from headrace.tools.env_example.render import render
from headrace.tools.workers.settings_classes import settings_class
from headrace.workers.kit.settings import WorkerSettings

FILE: Final = ".env.example"


def processes(root: Path) -> Iterator[tuple[str, type[ProcessSettings]]]:
    """Return every process of the tree with its settings class: what all workers share first, then each by name."""
    yield "every worker", WorkerSettings
    for project in sorted(root.glob("workers/*/pyproject.toml")):
        table = tomllib.loads(project.read_text(encoding="utf-8"))
        if "scripts" in table["project"]:
            yield project.parent.name, settings_class(project.parent.name)


def main(argv: list[str] | None = None) -> int:
    """Write the file, or with `--check` compare it; return 0, or 1 where it is not true."""
    parser = argparse.ArgumentParser(prog="env_example", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is not true")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the working tree")
    arguments = parser.parse_args(argv)
    file = arguments.root / FILE
    text = render(tuple(processes(arguments.root)))
    if not arguments.check:
        file.write_text(text, encoding="utf-8")
        return 0
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{FILE} does not match the settings classes: run `make env-example`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
