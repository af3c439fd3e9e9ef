"""Questions about syntax trees that the namespace path asks."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from typing import Final

import libcst as cst

type Definition = cst.FunctionDef | cst.ClassDef
type Collection = cst.Dict | cst.Set | cst.List


_FORM: Final = ("whitespace", "leading", "trailing", "comma", "lpar", "rpar", "semicolon", "header", "footer")


def inner(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the parts of a node that mean something, without spaces, commas and brackets."""
    for name in _meaning(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, tuple | list):
            yield from (each for each in value if isinstance(each, cst.CSTNode))


@cache
def _meaning(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if not field.name.startswith(_FORM))


def bodies_of(node: cst.BaseCompoundStatement) -> Iterator[tuple[str, Sequence[cst.BaseStatement]]]:
    """Yield the bodies of an `if`, loop, `with` or `try`, each with a name; nothing for a definition or a `match`."""
    match node:
        case cst.If():
            yield "then", statements_of(node.body)
            yield from _or_else(node.orelse)
        case cst.For() | cst.While():
            yield "body", statements_of(node.body)
            yield from _or_else(node.orelse)
        case cst.With():
            yield "body", statements_of(node.body)
        case cst.Try():
            yield "body", statements_of(node.body)
            yield from ((f"except {each}", statements_of(handler.body)) for each, handler in enumerate(node.handlers))
            yield from _or_else(node.orelse)
            yield from _or_else(node.finalbody)
        case _:
            return


def _or_else(node: cst.Else | cst.Finally | cst.If | None) -> Iterator[tuple[str, Sequence[cst.BaseStatement]]]:
    match node:
        case cst.If():
            yield "elif", (node,)
        case cst.Else():
            yield "else", statements_of(node.body)
        case cst.Finally():
            yield "finally", statements_of(node.body)
        case _:
            return


def statements_of(body: cst.BaseSuite) -> Sequence[cst.BaseStatement]:
    """Return the statements of an indented body; none of one that stands on its header's line."""
    return body.body if isinstance(body, cst.IndentedBlock) else ()


def headers_of(node: cst.BaseCompoundStatement) -> Iterator[cst.CSTNode]:
    """Yield the expressions in the header of an `if`, loop or `with`; everything for what has no such header."""
    match node:
        case cst.If(test=test) | cst.While(test=test):
            yield test
        case cst.For(target=target, iter=iterable):
            yield from (target, iterable)
        case cst.With(items=items):
            yield from items
        case cst.Try():
            yield from (handler.type for handler in node.handlers if handler.type is not None)
        case _:
            yield from inner(node)


def is_text(node: cst.CSTNode) -> bool:
    """Tell whether a statement is a lone string: a docstring, of whatever stands above it."""
    match node:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
            return True
        case _:
            return False


def parameters_of(params: cst.Parameters) -> tuple[cst.Param | cst.ParamStar, ...]:
    """Return all parameters in order, the bare star among them."""
    star = (params.star_arg,) if isinstance(params.star_arg, cst.Param | cst.ParamStar) else ()
    kwargs = (params.star_kwarg,) if params.star_kwarg else ()
    return (*params.posonly_params, *params.params, *star, *params.kwonly_params, *kwargs)


def dotted(node: cst.CSTNode | None) -> str:
    """Return `a.b.c` for a name or a chain of attributes of a name; empty for anything else."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=value, attr=attr):
            return f"{front}.{attr.value}" if (front := dotted(value)) else ""
        case _:
            return ""


def imports_of(module: cst.Module) -> Iterator[cst.Import | cst.ImportFrom]:
    """Yield the imports in a module's own body."""
    for statement in module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from (small for small in statement.body if isinstance(small, cst.Import | cst.ImportFrom))
