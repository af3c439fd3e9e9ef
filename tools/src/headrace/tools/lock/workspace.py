"""The files of a working tree that make up its lock."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.parts import WORKERS, Parts, join, split


@dataclass(frozen=True, slots=True)
class Workspace:
    """A working tree with its two locks.

    Attributes:
        root: The working tree.
        uv: The program uv.
    """

    root: Path
    uv: str

    @property
    def host_free(self) -> Path:
        """The shared part of the lock that is kept in the repository."""
        return self.root / "nix" / "uv.lock"

    @property
    def hydrated(self) -> Path:
        """The lock that uv reads; never committed."""
        return self.root / "uv.lock"

    def part(self, folder: str) -> Path:
        """Returns where the part of a worker lies."""
        return self.root / WORKERS / folder / "lock.toml"

    def workers(self) -> list[str]:
        """Returns the folders of all workers, sorted."""
        return sorted(each.parent.name for each in self.root.glob(f"{WORKERS}/*/pyproject.toml"))

    def parted(self) -> list[str]:
        """Returns the folders below `workers/` that have a part of the lock, sorted."""
        return sorted(each.parent.name for each in self.root.glob(f"{WORKERS}/*/lock.toml"))

    def project(self, *folders: str) -> Mapping[str, Any]:
        """Reads a member's pyproject.toml.

        Raises:
            LockError: It is missing or no TOML.
        """
        file = self.root.joinpath(*folders, "pyproject.toml")
        try:
            return tomllib.loads(read(file, remedy="make lock"))
        except tomllib.TOMLDecodeError as error:
            raise LockError(f"{file} cannot be read: {error}.") from error


def read_host_free(tree: Workspace) -> str:
    """Returns the host-free lock, joined from its parts.

    Raises:
        LockError: A part is missing, or its worker is, or the shared part is about a worker.
    """
    shared = read(tree.host_free, remedy="make lock")
    workers, parted = set(tree.workers()), set(tree.parted())
    for folder in sorted(workers - parted):
        raise LockError(f"The worker {WORKERS}/{folder} is not locked: its lock.toml is missing; run `make lock`.")
    for folder in sorted(parted - workers):
        raise LockError(
            f"{WORKERS}/{folder}/lock.toml is about a worker that is gone: there is no pyproject.toml beside it; "
            "run `make lock`, which removes it."
        )
    for folder in split(shared).workers:
        raise LockError(f"nix/uv.lock is about {WORKERS}/{folder}, which has its own lock.toml; run `make lock`.")
    return join(Parts(shared, _read_parts(tree, parted)))


def read_kept(tree: Workspace) -> str | None:
    """Returns what is locked of the workers that are there, wherever it lies; None when there is no lock at all."""
    if not tree.host_free.exists():
        return None
    found = split(read(tree.host_free, remedy="make lock"))
    parts = {**found.workers, **_read_parts(tree, set(tree.parted()))}
    return join(Parts(found.shared, {folder: parts[folder] for folder in tree.workers() if folder in parts}))


def write_host_free(tree: Workspace, stripped: str) -> None:
    """Writes the host-free lock in parts, and removes those of workers that are gone."""
    parts = split(stripped)
    write(tree.host_free, parts.shared)
    for folder, part in parts.workers.items():
        write(tree.part(folder), part)
    for folder in set(tree.parted()) - set(parts.workers):
        tree.part(folder).unlink()


def read(file: Path, *, remedy: str) -> str:
    """Reads a file.

    Args:
        file: Which.
        remedy: The command that makes it.

    Raises:
        LockError: It is missing; the message names the remedy.
    """
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LockError(f"{file} is missing; run `{remedy}`.") from None


def write(file: Path, content: str) -> None:
    """Replaces a file in one step, leaving it untouched when nothing changes."""
    if file.exists() and file.read_text(encoding="utf-8") == content:
        return
    draft = file.with_name(f"{file.name}.draft")
    draft.write_text(content, encoding="utf-8")
    draft.replace(file)


def _read_parts(tree: Workspace, folders: set[str]) -> dict[str, str]:
    return {folder: read(tree.part(folder), remedy="make lock") for folder in folders}
