"""Where the namespace comes from: the tree that the generator itself belongs to, which has it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

import libcst as cst
import libcst.matchers as m

from headrace.tools.new_worker.debris import kept_files
from headrace.tools.new_worker.exceptions import TreeError
from headrace.tools.new_worker.namespace.renaming import Renaming
from headrace.tools.new_worker.tree import Tree

PACKED: Final = "tree"
"""The folder beside this module that a built distribution has the tree's files in (`tools/hatch_build.py`)."""

_CHECKOUT_DEPTH: Final = 6


def find_source(start: Path = Path(__file__)) -> Tree:
    """Return the tree that has the namespace: the generator's own checkout, or what was packed into its distribution.

    Args:
        start: This module's file.

    Raises:
        TreeError: The generator's own tree lacks the namespace too.
    """
    here = start.resolve()
    checkout, packed = here.parents[min(_CHECKOUT_DEPTH, len(here.parents) - 1)], here.parent / PACKED
    for folder in (checkout, packed):
        if (folder / "pyproject.toml").is_file() and (folder / "om" / "src").is_dir():
            tree = Tree.open(folder)
            if tree.has_work:
                return tree
    raise TreeError(
        f"The work namespace is neither in {checkout} nor packed with the generator:"
        " run a generator that has it over this tree, with --root."
    )


@dataclass(frozen=True)
class Source:
    """The tree that has the namespace, in the words of the tree that lacks it.

    Paths and texts are those of the tree that lacks it.
    """

    tree: Tree
    renaming: Renaming
    _texts: dict[PurePosixPath, str] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Tree, target: Tree) -> "Source":
        """Take one tree as the source for another."""
        old, new = tree.root_package, target.root_package
        renaming = Renaming(old, new, _logins_of(tree), _logins_of(target), _settings_of(tree), _settings_of(target))
        return cls(tree, renaming)

    @property
    def root_package(self) -> str:
        """The root package of the tree that lacks the namespace."""
        return self.renaming.new_package

    @property
    def om(self) -> PurePosixPath:
        """The folder of the object model's package."""
        return PurePosixPath("om/src", self.root_package, "om")

    @property
    def infra(self) -> PurePosixPath:
        """The folder of the toolkits' package."""
        return PurePosixPath("infra/src", self.root_package, "infra")

    def files(self, folder: PurePosixPath) -> Iterator[PurePosixPath]:
        """Yield every file below a folder, in order; none when there is no such folder."""
        for file in kept_files(self.tree.root / self._own(folder)):
            yield PurePosixPath(self.renaming.path(file.relative_to(self.tree.root).as_posix()))

    def read(self, path: PurePosixPath) -> str | None:
        """Return a file's text in the other tree's words, or None where there is no such file."""
        if path not in self._texts:
            text = self.tree.read(self._own(path))
            if text is None:
                return None
            self._texts[path] = self.renaming.python(text) if path.suffix == ".py" else self.renaming.prose(text)
        return self._texts[path]

    def _own(self, path: PurePosixPath) -> PurePosixPath:
        old, new = self.renaming.old_package, self.renaming.new_package
        parts = path.parts
        places = [index for index, part in enumerate(parts) if index and parts[index - 1] == "src" and part == new]
        return PurePosixPath(*(old if index in places else part for index, part in enumerate(parts)))


def module_name(path: PurePosixPath) -> str:
    """Return the name that a Python file is imported by."""
    parts = list(path.with_suffix("").parts)
    if "src" in parts:
        parts = parts[parts.index("src") + 1 :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _logins_of(tree: Tree) -> str:
    """Return what a tree's database logins begin with: what stands before the name in its `LOGIN_NAMES`."""
    path = tree.om / "storage" / "roles.py"
    return _text_assigned(tree, path, "LOGIN_NAMES", m.FormattedStringText()) or f"{tree.root_package}_"


def _settings_of(tree: Tree) -> str:
    """Return what a tree's environment variables begin with."""
    path = PurePosixPath("infra/src", tree.root_package, "infra/settings/process.py")
    return _text_assigned(tree, path, "ENV_PREFIX", m.SimpleString()) or f"{tree.root_package.upper()}_"


def _text_assigned(tree: Tree, path: PurePosixPath, name: str, kind: m.BaseMatcherNode) -> str:
    """Return the first text in what a module assigns to a name; empty where there is none."""
    assigned = m.AnnAssign(target=m.Name(name)) | m.Assign(targets=[m.AssignTarget(m.Name(name))])
    for found in m.findall(cst.parse_module(tree.read(path) or ""), assigned):
        for text in m.findall(found, kind):
            if isinstance(text, cst.FormattedStringText | cst.SimpleString):
                return text.value.strip("\"'")
    return ""
