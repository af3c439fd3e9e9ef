"""What the pages that map requirements name: tests, public names, files, targets; each looked up in the tree."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Final

ROOT: Final = Path(__file__).parents[2]

PACKAGES: Final = (
    "headrace.om.work",
    "headrace.om.testing",
    "headrace.om.outbox",
    "headrace.om.storage",
    "headrace.infra.background",
    "headrace.infra.boot",
    "headrace.infra.cache",
    "headrace.infra.topics",
    "headrace.workers.kit",
)
MODULES: Final = ("headrace.om.base", "headrace.om.encoding", "headrace.om.exceptions", "headrace.om.root")
"""Whose public names the pages may name, beside those of `PACKAGES`."""

_MADE: Final = frozenset({".git", ".venv", ".headrace", "__pycache__", "node_modules", ".hypothesis"})

_ROW: Final = re.compile(r"^\|(.+)\|$", re.MULTILINE)
_TICKED: Final = re.compile(r"`([^`]+)`")


def rows_of(page: Path) -> Iterator[tuple[str, ...]]:
    """Yield the cells of every row of every table, but for heads and rules."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_head = following.startswith("| ---")
        if (row := _ROW.match(line)) and not is_head and not line.startswith("| ---"):
            yield tuple(cell.strip() for cell in row[1].split("|"))


def ticked(cell: str) -> list[str]:
    """Return what a cell sets in backticks."""
    return _TICKED.findall(cell)


@cache
def tests_in(path: str) -> frozenset[str]:
    """Return the names of the tests that a file defines, in classes too; none where there is no such file."""
    if not (ROOT / path).is_file():
        return frozenset()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def is_test(reference: str) -> bool:
    """Return whether `path::test` is there."""
    path, _, name = reference.partition("::")
    return name in tests_in(path)


def is_name(reference: str) -> bool:
    """Return whether a public name, or an attribute or field of one, is there."""
    first, *rest = reference.split(".")
    return any(_has(found, rest) for found in _names().get(first, ()))


def is_target(reference: str) -> bool:
    """Return whether `make <target>` is there."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    target = reference.removeprefix("make ")
    return target != reference and re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE) is not None


def is_path(reference: str) -> bool:
    """Return whether a file or folder is there by its full path or by the end of it.

    `{a,b}` stands for either, `*` for any name, `...` and `<name>` for whatever lies between.
    """
    return all(_is_one_path(each) for each in _expanded(reference.rstrip("/")))


def _is_one_path(reference: str) -> bool:
    pattern = re.sub(r"\\\.\\\.\\\.|<[a-z_]+>", ".+", re.escape(reference)).replace(r"\*", "[^/]*")
    ending = re.compile(rf"(?:.*/)?{pattern}")
    return any(ending.fullmatch(path) for path in _paths())


def _expanded(reference: str) -> Iterator[str]:
    if (choice := re.search(r"\{([^{}]*)\}", reference)) is None:
        yield reference
        return
    for each in choice[1].split(","):
        yield from _expanded(reference[: choice.start()] + each + reference[choice.end() :])


@cache
def _paths() -> frozenset[str]:
    """Return every file and folder of the tree, but for what is made by working in it."""
    found: set[str] = set()
    for folder, folders, files in ROOT.walk():
        folders[:] = [each for each in folders if each not in _MADE]
        found |= {(folder / each).relative_to(ROOT).as_posix() for each in (*folders, *files)}
    return frozenset(found)


def _has(value: object, attributes: list[str]) -> bool:
    for name in attributes:
        fields: Mapping[str, object] = getattr(value, "model_fields", None) or getattr(value, "__annotations__", {})
        if not hasattr(value, name) and name not in fields:
            return False
        value = getattr(value, name, None)
    return True


@cache
def _names() -> Mapping[str, list[object]]:
    found: dict[str, list[object]] = {}
    for module in _modules():
        for name, value in vars(module).items():
            if not name.startswith("_") and not isinstance(value, ModuleType):
                found.setdefault(name, []).append(value)
    return found


def _modules() -> Iterator[ModuleType]:
    for name in chain(MODULES, *(_below(package) for package in PACKAGES)):
        yield importlib.import_module(name)


def _below(package: str) -> Iterator[str]:
    yield package
    path = importlib.import_module(package).__path__
    yield from (each.name for each in pkgutil.walk_packages(path, f"{package}."))
