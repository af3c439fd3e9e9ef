"""Questions about Python syntax trees that several rules ask."""

import ast
from collections.abc import Iterator
from functools import cache

type Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def classes(tree: ast.AST) -> tuple[ast.ClassDef, ...]:
    """Return every class of a tree, nested ones too; walked once for all rules."""
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


@cache
def functions(tree: ast.AST) -> tuple[Function, ...]:
    """Return every function of a tree, methods and nested ones too; walked once for all rules."""
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def methods(owner: ast.ClassDef) -> Iterator[Function]:
    """Yield the functions written directly in a class body."""
    return (node for node in owner.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def last_name(node: ast.AST | None) -> str:
    """Give the last identifier of a reference: `b` for `a.b`, `b[int]`, `a.b(...)` and the text `"a.b"`.

    Returns:
        The identifier; empty where the expression is no reference.
    """
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return last_name(inner)
        case ast.Constant(value=str(text)):
            return text.partition("[")[0].rpartition(".")[2].strip()
        case _:
            return ""


def base_names(owner: ast.ClassDef) -> list[str]:
    """Give the last identifiers of the bases of a class, in their order."""
    return [last_name(base) for base in owner.bases]


def is_public(name: str) -> bool:
    """Tell whether a name is neither private nor a dunder."""
    return not name.startswith("_")


def is_abstract(function: Function) -> bool:
    """Tell whether a function is decorated as an abstract method."""
    return any(last_name(decorator) == "abstractmethod" for decorator in function.decorator_list)


def is_static(function: Function) -> bool:
    """Tell whether a method takes neither the instance nor the class."""
    return any(last_name(decorator) == "staticmethod" for decorator in function.decorator_list)


def docstring_of(function: Function) -> str:
    """Give the docstring of a function; empty where it has none."""
    return ast.get_docstring(function) or ""


def body_of(function: Function) -> list[ast.stmt]:
    """Give the statements of a function after its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def is_ellipsis(statement: ast.stmt) -> bool:
    """Tell whether a statement is a lone `...`."""
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )


def first_parameter(function: Function) -> ast.arg | None:
    """Give the first parameter after self or cls; None where there is none."""
    positional = [*function.args.posonlyargs, *function.args.args]
    skipped = 0 if is_static(function) else 1
    return positional[skipped] if len(positional) > skipped else None


def text_of(node: ast.AST | None) -> str | None:
    """Give the value of a string literal; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield name and value of every plain or annotated assignment to one name in a body."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case _:
                pass
