"""What a module imports, as absolute dotted names."""

import ast
from collections.abc import Iterator

from headrace.tools.arch_check.repository import Module
from headrace.tools.arch_check.syntax import last_name, text_of

type Import = tuple[int, str]


def imports_of(module: Module) -> Iterator[Import]:
    """Yield line and dotted name of everything a module imports.

    `from a import b` gives both `a` and `a.b`, since either may be the module; relative imports are resolved; a
    call of `import_module` with a literal counts as an import.
    """
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom():
                yield from _from_import(module, node)
            case ast.Call() if last_name(node.func) in {"import_module", "__import__"} and node.args:
                name = text_of(node.args[0])
                yield from [(node.lineno, name)] if name else []
            case _:
                pass


def reaches(imported: str, package: str) -> bool:
    """Tell whether a dotted name is a package or lies in it."""
    return imported == package or imported.startswith(f"{package}.")


def _from_import(module: Module, node: ast.ImportFrom) -> Iterator[Import]:
    base = node.module or ""
    if node.level:
        parts = module.name.split(".")
        kept = len(parts) - node.level + (1 if module.is_package else 0)
        base = ".".join([*parts[:kept], *([base] if base else [])])
    yield node.lineno, base
    yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
