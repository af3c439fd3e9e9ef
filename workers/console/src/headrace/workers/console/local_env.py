"""A file of environment variables for one person's local runs: readable for its owner alone."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dotenv import dotenv_values

OWNER_ONLY: Final = 0o600
_ASSIGNED: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=")


def read_variables(path: Path) -> dict[str, str]:
    """Return the variables of a file; empty where there is none.

    Raises:
        OSError: It is there and cannot be read.
    """
    if not path.is_file():
        return {}
    return {name: value for name, value in dotenv_values(path, interpolate=False).items() if value is not None}


def set_variables(path: Path, variables: Mapping[str, str]) -> None:
    """Set variables in a file and keep its other lines, in one step: readers see the old file or the new one.

    The file is made when it is missing; afterwards only its owner may read it.

    Args:
        path: The file; its folder is made when missing.
        variables: Values without line ends.

    Raises:
        OSError: It cannot be written; the old file stands.
        ValueError: A value holds a line end or a NUL; nothing was written.
    """
    lines = [line for line in _lines(path) if _name_in(line) not in variables]
    text = "".join(f"{line}\n" for line in [*lines, *(_assignment(*each) for each in variables.items())])
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "w", encoding="utf-8"
        ) as file:
            file.write(text)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _name_in(line: str) -> str | None:
    match = _ASSIGNED.match(line)
    return None if match is None else match[1]


def _assignment(name: str, value: str) -> str:
    if any(each in value for each in "\r\n\x00"):
        raise ValueError(f"{name}: expected a value on one line")
    # In single quotes nothing is replaced, whoever reads the file.
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{escaped}'"
