"""What programs leave in a folder by the way; it is nobody's work and goes with the folder."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

DEBRIS_FOLDERS: Final = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".import_linter_cache"}
)
DEBRIS_SUFFIXES: Final = (".pyc", ".pyo", ".egg-info")


def is_debris(name: str) -> bool:
    """Tell whether a file or folder of that name is made by running something."""
    return name in DEBRIS_FOLDERS or name.endswith(DEBRIS_SUFFIXES)


def kept_files(folder: Path) -> Iterator[Path]:
    """Yield every file and link below a folder that is no debris, in order; nothing when there is no such folder."""
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if is_debris(entry.name):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from kept_files(entry)
        else:
            yield entry


def sweep_empty(folder: Path) -> None:
    """Remove a folder with the debris in it, unless anything else is there; safe twice."""
    if not folder.is_dir() or any(not is_debris(entry.name) for entry in folder.iterdir()):
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    folder.rmdir()
