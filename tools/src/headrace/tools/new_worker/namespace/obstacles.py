"""What in a tree would not go with the namespace, or is missing under it; each is an edit that cannot be made."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Edit
from headrace.tools.new_worker.namespace.slices import Slice
from headrace.tools.new_worker.tree import Tree

type Texts = Mapping[PurePosixPath, str]


def missing_prerequisites(target: Tree, creates: Texts, shares: Mapping[PurePosixPath, Slice]) -> Iterator[Edit]:
    """Yield an obstacle for each module of the target that lacks a name which the created files import.

    Args:
        target: The tree.
        creates: The files of the namespace.
        shares: What edits will add to the target's own files.
    """
    missing: defaultdict[PurePosixPath, set[str]] = defaultdict(set)
    defined: dict[PurePosixPath, frozenset[str]] = {}
    for module, name in sorted(_imported(target, creates)):
        path = _file_of(target, creates, module)
        if path in creates:
            continue
        if path not in defined:
            added = {part.key for part in shares[path].parts if not part.path} if path in shares else set()
            defined[path] = frozenset(_names_in(target.read(path) or "") | added)
        if name not in defined[path] and not _is_module(target, creates, f"{module}.{name}"):
            missing[path].add(name)
    for path, names in missing.items():
        listed = ", ".join(sorted(names))
        yield _obstacle(path, f"{path} lacks what the work namespace builds on: {listed}. Add it first.")


def foreign_revisions(target: Tree, creates: Texts) -> Iterator[Edit]:
    """Yield an obstacle for each revision that is in the namespace's chain of migrations and not its own."""
    for folder in sorted({path.parent for path in creates if "versions" in path.parts}):
        for file in sorted((target.root / folder).glob("[0-9]*.py")):
            path = folder / file.name
            if path not in creates:
                yield _obstacle(
                    path,
                    f"{path} is a revision in the chain that the work namespace begins: give its tables another role's"
                    " chain, or write the namespace's migrations by hand, each after the one before.",
                )


def _obstacle(path: PurePosixPath, sentence: str) -> Edit:
    return Edit(path, lambda _: Cannot(sentence), lambda _: AlreadyThere())


def _imported(target: Tree, creates: Texts) -> Iterator[tuple[str, str]]:
    """Yield module and name of everything that the created files import of the target's own."""
    own = (f"{target.root_package}.om", f"{target.root_package}.infra", "om.tests", "infra.tests")
    for path, text in creates.items():
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(_dotted(own)):
                    yield from ((node.module, alias.name) for alias in node.names)


def _dotted(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}." for name in names)


def _file_of(target: Tree, creates: Texts, module: str) -> PurePosixPath:
    """Return the file of a module; where there is none, the one that it would be."""
    first, *rest = module.split(".")
    source = (rest[0], "src") if first == target.root_package else ()
    below = PurePosixPath(*source, first, *rest)
    package = below / "__init__.py"
    is_package = package in creates or target.read(package) is not None
    return package if is_package else below.with_suffix(".py")


def _is_module(target: Tree, creates: Texts, module: str) -> bool:
    path = _file_of(target, creates, module)
    return path in creates or target.read(path) is not None or (target.root / path.with_suffix("")).is_dir()


def _names_in(text: str) -> set[str]:
    """Return what a module's body binds, behind `if` and `try` too."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    return {name for node in ast.walk(tree) for name in _bound(node)}


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((alias.asname or alias.name) for alias in names)
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case _:
            return
