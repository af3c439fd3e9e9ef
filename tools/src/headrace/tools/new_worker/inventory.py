"""What a tree has already, as far as a new worker could meet it: names, kinds, ports."""

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from headrace.tools.new_worker.exceptions import TreeError
from headrace.tools.new_worker.tree import Tree

LOCK = PurePosixPath("nix/uv.lock")


@dataclass(frozen=True, slots=True)
class Inventory:
    """The names and ports that are in use.

    Attributes:
        workers: The folder names of the projects below `workers/`, the kit among them.
        kinds: Each work kind with the worker that handles it, or None where none does.
        ports: The metrics port of each worker that has one.
        packages: The import names of the tree's own packages and of every distribution that it locks, in snake case.
    """

    workers: tuple[str, ...]
    kinds: Mapping[str, str | None]
    ports: Mapping[str, int]
    packages: frozenset[str]

    @classmethod
    def of(cls, tree: Tree) -> "Inventory":
        """Read a tree.

        Raises:
            TreeError: A file that names what there is cannot be read.
        """
        projects = dict(tree.worker_projects())
        declared = {name: _declaration(project, tree.root_package) for name, project in projects.items()}
        handled = {table["kind"]: name for name, table in declared.items() if "kind" in table}
        return cls(
            workers=tuple(projects),
            kinds={**dict.fromkeys(_enum_members(tree)), **handled},
            ports={name: table["metrics_port"] for name, table in declared.items() if "metrics_port" in table},
            packages=frozenset(_packages(tree, (project["project"]["name"] for project in projects.values()))),
        )


def _declaration(project: Mapping[str, Any], root_package: str) -> Mapping[str, Any]:
    """Return what a worker says about itself; empty for what is no worker."""
    table: Mapping[str, Any] = project.get("tool", {}).get(root_package, {}).get("worker", {})
    return table


def _enum_members(tree: Tree) -> Iterator[str]:
    """Yield the kinds that the tree declares, none when it has no work namespace."""
    path = tree.om / "work" / "types" / "kinds.py"
    text = tree.read(path)
    if text is None:
        return
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise TreeError(f"{path} is no valid Python: {error.msg} in line {error.lineno}.") from None
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and node.name == "WorkKind":
            yield from _assigned(node)


def _assigned(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _packages(tree: Tree, distributions: Iterable[str]) -> Iterator[str]:
    yield tree.root_package
    for pattern in (f"*/src/{tree.root_package}/*", f"workers/*/src/{tree.root_package}/workers/*"):
        yield from (folder.name for folder in tree.root.glob(pattern) if folder.is_dir())
    prefix = f"{tree.root_package}-".replace("_", "-")
    for name in (*distributions, *_locked(tree)):
        yield name.removeprefix(prefix).replace("-", "_").replace(".", "_").lower()


def _locked(tree: Tree) -> Iterator[str]:
    """Yield every distribution in the shared lock."""
    text = tree.read(LOCK)
    try:
        locked = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        raise TreeError(f"{LOCK} cannot be read: {error}.") from None
    yield from (package["name"] for package in locked.get("package", ()))
