"""What an item is called among its siblings: what a reader would call it."""

import libcst as cst

from headrace.tools.new_worker.namespace.outline import DOCSTRING, IMPORTS
from headrace.tools.new_worker.namespace.spans import Spans
from headrace.tools.new_worker.namespace.syntax import is_text


def element_key(spans: Spans, node: cst.CSTNode) -> str:
    """Return the name of a parameter or named argument, the key of a dictionary's entry, or else the code."""
    match node:
        case cst.Param(name=name) | cst.Arg(keyword=cst.Name() as name):
            return name.value
        case cst.ParamStar():
            return "*"
        case cst.DictElement(key=key):
            return spans.code(key)
        case _:
            return spans.code(node)


def statement_key(spans: Spans, node: cst.BaseStatement, *, is_first: bool) -> str:
    """Return what a statement defines or assigns, the header of a compound one, or else what it does.

    Args:
        spans: The module's.
        node: The statement.
        is_first: Whether it is the first of its body, so that a text is the docstring.
    """
    match node:
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            return name.value
        case cst.SimpleStatementLine(body=[first, *_]):
            return DOCSTRING if is_first and is_text(node) else _simple_key(spans, first)
        case _:
            return _header(spans, node)


def _simple_key(spans: Spans, node: cst.BaseSmallStatement) -> str:
    match node:
        case cst.Import() | cst.ImportFrom():
            return IMPORTS
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) | cst.AnnAssign(target=target):
            return spans.code(target)
        case cst.Return():
            return "return"
        case cst.Expr(value=cst.Await(expression=cst.Call(func=func))):
            return f"await {spans.code(func)}()"
        case cst.Expr(value=cst.Call(func=func)):
            return f"{spans.code(func)}()"
        case _:
            return spans.code(node)


def _header(spans: Spans, node: cst.CSTNode) -> str:
    match node:
        case cst.If(test=test) | cst.While(test=test):
            return f"{type(node).__name__.lower()} {spans.code(test)}"
        case cst.For(target=target, iter=iterable):
            return f"for {spans.code(target)} in {spans.code(iterable)}"
        case cst.With(items=items):
            return f"with {', '.join(spans.code(item.item) for item in items)}"
        case _:
            return type(node).__name__.lower()
