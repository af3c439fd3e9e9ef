"""Which distributions the object model requires for the namespace alone."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.namespace.inventory import Inventory
from headrace.tools.new_worker.namespace.source import Source

_DATA_OF: Final = {"zoneinfo": "tzdata"}
"""Distributions that nothing imports, by the module of the standard library that reads their data."""


def own_requirements(source: Source, inventory: Inventory) -> frozenset[str]:
    """Return the distributions that only the namespace's own modules of the object model need.

    A distribution is taken for what it is imported as, but for the dash that a module's name cannot have.
    """
    modules = [path for path in source.files(source.om) if path.suffix == ".py"]
    own = frozenset(inventory.own)
    of_others = frozenset(_needed(source, (path for path in modules if path not in own)))
    return frozenset(_needed(source, (path for path in modules if path in own))) - of_others


def _needed(source: Source, paths: Iterable[PurePosixPath]) -> Iterator[str]:
    for path in paths:
        for node in ast.walk(ast.parse(source.read(path) or "")):
            for name in _imported(node):
                top = name.partition(".")[0]
                yield _DATA_OF.get(top, top.replace("_", "-"))


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            yield module
