"""A working tree as the generator reads it: texts by path, from its root."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from headrace.tools.new_worker.exceptions import TreeError


@dataclass(frozen=True, slots=True)
class Tree:
    """A working tree, read and never written.

    Attributes:
        root: Its top folder, absolute.
        root_package: The package that holds all of the tree's packages.
        staged: Files that a plan will have written by the time that matters; they stand in front of the disk's.
    """

    root: Path
    root_package: str
    staged: Mapping[PurePosixPath, str] = field(default_factory=dict)

    @classmethod
    def open(cls, root: Path) -> "Tree":
        """Find out what a folder is.

        Raises:
            TreeError: It is no workspace of this kind, or has no object model or more than one.
        """
        folder = root.resolve()
        if not (folder / "pyproject.toml").is_file():
            raise TreeError(f"{folder} holds no pyproject.toml: run this in a working tree, or name one with --root.")
        packages = sorted(each.parent.name for each in folder.glob("om/src/*/om") if each.is_dir())
        if len(packages) != 1:
            found = ", ".join(packages) or "none"
            raise TreeError(f"{folder}/om/src must hold one folder with an `om` package in it; it has: {found}.")
        return cls(root=folder, root_package=packages[0])

    @staticmethod
    def around(folder: Path) -> Path:
        """Return the working tree that a folder is in: the nearest that has an object model, or the folder itself."""
        start = folder.resolve()
        inside = (each for each in (start, *start.parents) if (each / "om" / "src").is_dir())
        return next((each for each in inside if (each / "pyproject.toml").is_file()), start)

    def with_staged(self, staged: Mapping[PurePosixPath, str]) -> "Tree":
        """Return this tree as it will be once those files are written."""
        return replace(self, staged=staged)

    def read(self, path: PurePosixPath) -> str | None:
        """Return a file's text with its line ends untouched, or None when there is no such file.

        Raises:
            TreeError: The file is not UTF-8 text, or is none that could be written.
        """
        if path in self.staged:
            return self.staged[path]
        content = self.read_bytes(path)
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TreeError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}.") from None

    def read_bytes(self, path: PurePosixPath) -> bytes | None:
        """Return what the disk has in a file, or None when there is no such file.

        Raises:
            TreeError: The path is a link, a folder, or below a file, or it leads out of the tree.
        """
        file = self.root / path
        if not file.parent.resolve().is_relative_to(self.root):
            raise TreeError(f"{path} leads out of the tree.")
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise TreeError(f"{path} is not a regular file.")
        try:
            return file.read_bytes()
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise TreeError(f"{path} would lie below a file.") from None

    @property
    def om(self) -> PurePosixPath:
        """The folder of the object model's package."""
        return PurePosixPath("om/src", self.root_package, "om")

    @property
    def has_work(self) -> bool:
        """Whether the tree has the `work` namespace."""
        return self.read(self.om / "work" / "manager.py") is not None

    def worker_projects(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the folder name and pyproject of everything below `workers/` on disk, in order of name.

        Raises:
            TreeError: One of them is not TOML.
        """
        for file in sorted(self.root.glob("workers/*/pyproject.toml")):
            yield file.parent.name, _table(file, self.root)


def _table(file: Path, root: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TreeError(f"{file.relative_to(root)} cannot be read: {error}.") from None
