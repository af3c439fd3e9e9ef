"""The names that a piece of syntax uses."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import libcst as cst

from headrace.tools.new_worker.namespace.syntax import inner


def used_names(node: cst.CSTNode, without: AbstractSet[cst.CSTNode] = frozenset()) -> Iterator[str]:
    """Yield the names that are read in a piece of syntax, repeatedly; also those in strings that are but a name.

    Args:
        node: The syntax.
        without: Pieces of it that do not count.
    """
    if node in without or isinstance(node, cst.Import | cst.ImportFrom):
        return
    match node:
        case cst.Name(value=name):
            yield name
        case cst.SimpleString() if isinstance(node.evaluated_value, str) and node.evaluated_value.isidentifier():
            yield node.evaluated_value
        case cst.AssignTarget(target=cst.Name()):
            return
        case _:
            for child in _read_parts(node):
                yield from used_names(child, without)


def _read_parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the parts of a node without the names that it gives or that belong to another object."""
    match node:
        case cst.Attribute(value=value):
            yield value
        case cst.Arg(value=value):
            yield value
        case cst.AnnAssign(target=cst.Name(), annotation=annotation, value=value):
            yield from (each for each in (annotation, value) if each is not None)
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            yield from (child for child in inner(node) if child is not name)
        case _:
            yield from inner(node)
