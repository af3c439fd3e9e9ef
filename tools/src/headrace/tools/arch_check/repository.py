"""The tree under check: its Python modules with their place in the layout, and its other text files."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePosixPath

from headrace.tools.arch_check.options import Options, read_options
from headrace.tools.arch_check.problems import ArchCheckUsageError, Problem

_GENERATED_FOLDERS = frozenset({"__pycache__", "node_modules", "dist", "build", "result"})
_OWN_HIDDEN_FOLDERS = frozenset({".github", ".ci"})
# Local state that the version control ignores: real settings, and the lock that setup hydrates.
_LOCAL_FILES = frozenset({".env", "uv.lock"})
_MAX_TEXT_BYTES = 2 * 1024 * 1024


class Zone(StrEnum):
    """The part of the layout that a shipped module belongs to; everything else is `OTHER`."""

    OM = "om"
    INFRA = "infra"
    TOOLS = "tools"
    WORKERS = "workers"
    OTHER = "other"


@dataclass(frozen=True)
class Module:
    """One Python file that parses.

    Attributes:
        path: File, relative to the root, with forward slashes.
        name: Dotted name it is imported by; outside of the shipped packages its path with dots.
        zone: Part of the layout; `OTHER` for tests, migrations and scripts.
        is_test: Whether it is a test or serves only tests.
        text: The source.
        tree: Its syntax tree.
    """

    path: str
    name: str
    zone: Zone
    is_test: bool
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        """Whether the file is a package's `__init__.py`."""
        return self.path.endswith("/__init__.py")

    def problem(self, place: ast.stmt | ast.expr | int, sentence: str) -> Problem:
        """Make a problem at a line or node of this file."""
        return Problem(self.path, place if isinstance(place, int) else place.lineno, sentence)


@dataclass(frozen=True)
class TextFile:
    """One text file of the tree, of any language."""

    path: str
    text: str


@dataclass(frozen=True)
class Repository:
    """A tree, read once.

    Attributes:
        root: Folder of the root pyproject.toml.
        package: Name of the root package, the folder under `om/src`.
        options: What the tree's pyproject.toml says to this check.
    """

    root: Path
    package: str
    options: Options

    @classmethod
    def load(cls, root: Path) -> "Repository":
        """Find the root package and read the options; the files are read when a rule first asks.

        Raises:
            ArchCheckUsageError: The folder is no tree of this layout, or its options are invalid.
        """
        options = read_options(root / "pyproject.toml")
        names = sorted(path.parent.name for path in root.glob("om/src/*/om") if path.is_dir())
        if len(names) != 1:
            found = ", ".join(names) or "none"
            raise ArchCheckUsageError(f"{root}: expected exactly one root package om/src/<root>/om, found {found}")
        return cls(root=root, package=names[0], options=options)

    @cached_property
    def files(self) -> tuple[TextFile, ...]:
        """Every text file under version control's reach, ordered by path."""
        paths = sorted(_walk(self.root), key=lambda path: path.parts)
        read = ((path, _read_text(self.root / path)) for path in paths)
        return tuple(TextFile(path.as_posix(), text) for path, text in read if text is not None)

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """Every Python file that parses, ordered by path."""
        return tuple(each for each in self._parsed if isinstance(each, Module))

    @cached_property
    def unparsed(self) -> tuple[Problem, ...]:
        """One problem for every Python file that does not parse."""
        return tuple(each for each in self._parsed if isinstance(each, Problem))

    @cached_property
    def sources(self) -> tuple[Module, ...]:
        """The shipped modules: those of a layer, without tests."""
        return tuple(module for module in self.modules if module.zone is not Zone.OTHER)

    def in_zone(self, zone: Zone) -> Iterator[Module]:
        """Yield the shipped modules of one layer."""
        return (module for module in self.sources if module.zone is zone)

    def option_problem(self, name: str, sentence: str) -> Problem:
        """Make a problem at the line of pyproject.toml that names an option's entry."""
        lines = (self.root / "pyproject.toml").read_text(encoding="utf-8").splitlines()
        line = next((number for number, text in enumerate(lines, start=1) if f'"{name}"' in text), 1)
        return Problem("pyproject.toml", line, sentence)

    @cached_property
    def _parsed(self) -> tuple[Module | Problem, ...]:
        return tuple(_parse(file) for file in self.files if file.path.endswith(".py"))


def _walk(root: Path) -> Iterator[PurePosixPath]:
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if _is_own_folder(name)]
        relative = PurePosixPath(Path(folder).relative_to(root).as_posix())
        yield from (relative / name for name in names if name not in _LOCAL_FILES or relative.parts)


def _is_own_folder(name: str) -> bool:
    if name.startswith("."):
        return name in _OWN_HIDDEN_FOLDERS
    return name not in _GENERATED_FOLDERS and not name.endswith(".egg-info")


def _read_text(path: Path) -> str | None:
    if not path.is_file() or path.stat().st_size > _MAX_TEXT_BYTES:
        return None
    content = path.read_bytes()
    return None if b"\0" in content else content.decode("utf-8", errors="replace")


def _parse(file: TextFile) -> Module | Problem:
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError) as error:
        return Problem(file.path, getattr(error, "lineno", None) or 1, f"does not parse as Python: {error}")
    path = PurePosixPath(file.path)
    is_test = _is_test(path)
    return Module(file.path, _dotted_name(path), _zone(path, is_test=is_test), is_test, file.text, tree)


def _is_test(path: PurePosixPath) -> bool:
    return "tests" in path.parts[:-1] or path.name == "conftest.py" or path.name.startswith("test_")


def _dotted_name(path: PurePosixPath) -> str:
    parts = list(path.with_suffix("").parts)
    if "src" in parts:
        parts = parts[parts.index("src") + 1 :]
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def _zone(path: PurePosixPath, *, is_test: bool) -> Zone:
    if is_test or "src" not in path.parts or path.parts[0] not in set(Zone):
        return Zone.OTHER
    return Zone(path.parts[0])
