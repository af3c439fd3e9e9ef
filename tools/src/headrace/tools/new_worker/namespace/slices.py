"""The namespace's share of a module that others use too: all in it that depends on the namespace, to be carried."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

import libcst as cst

from headrace.tools.new_worker.namespace.cutting import Cut, cuts_of
from headrace.tools.new_worker.namespace.importing import ImportPart, bound_name
from headrace.tools.new_worker.namespace.names import used_names
from headrace.tools.new_worker.namespace.outline import DOCSTRING, IMPORTS, BlockKind, Item
from headrace.tools.new_worker.namespace.ownership import Ownership, Ref, SourceModule
from headrace.tools.new_worker.namespace.parts import Part, framed

_MAX_ROUNDS: Final = 10


@dataclass(frozen=True, slots=True)
class Slice:
    """The namespace's share of one module.

    Attributes:
        parts: Its statements, parameters, arguments, elements and entries, in order.
        imports: Imports for these alone.
        needs: Imports that these use and others too.
        definitions: Names of the module itself that these use.
        is_all: Whether nothing that others would use, or run as a test, is left without them.
    """

    parts: tuple[Part, ...]
    imports: tuple[ImportPart, ...] = ()
    needs: tuple[ImportPart, ...] = ()
    definitions: frozenset[str] = field(default_factory=frozenset)
    is_all: bool = False


def slice_of(module: SourceModule, ownership: Ownership) -> Slice | None:
    """Return the namespace's share of a module; None where it has none.

    Args:
        module: The module.
        ownership: What belongs, fully known.
    """
    cuts = _with_orphans(module, cuts_of(module, ownership))
    kept, used = _kept_names(module, cuts), _used_names(cuts)
    imports = _imports(module, lambda name, ref: ownership.owns(ref) or (name in used and name not in kept))
    if not cuts and not imports:
        return None
    return Slice(
        parts=tuple(_part_of(module, cut) for cut in cuts),
        imports=imports,
        needs=_imports(module, lambda name, ref: name in used & kept and not ownership.owns(ref)),
        definitions=used.intersection(_definitions(module, cuts)),
        is_all=not any(_counts(module, item) for item in _definitions(module, cuts).values()),
    )


def _part_of(module: SourceModule, cut: Cut) -> Part:
    return replace(framed(module.text, cut.block, cut.item), is_free=_is_free(module, cut))


def _is_free(module: SourceModule, cut: Cut) -> bool:
    is_test = module.is_test and cut.item.key.startswith("test")
    return cut.block.kind is BlockKind.ENTRIES or is_test


def _with_orphans(module: SourceModule, cuts: Sequence[Cut]) -> tuple[Cut, ...]:
    """Add what only the cuts use: private functions, constants, a function's own names, and helpers of tests."""
    grown = list(cuts)
    for _ in range(_MAX_ROUNDS):
        kept, used = _kept_names(module, grown), _used_names(grown)
        orphans = [cut for cut in _candidates(module, grown) if cut.item.key in used - kept]
        if not orphans:
            break
        grown += orphans
    return tuple(sorted(grown, key=lambda cut: cut.item.start))


def _candidates(module: SourceModule, cuts: Sequence[Cut]) -> Iterator[Cut]:
    """Yield what might be for the cuts alone: it stands beside one, and nobody elsewhere can see it."""
    cut_items = [cut.item for cut in cuts]
    for block in {cut.block.path: cut.block for cut in cuts}.values():
        if block.kind is not BlockKind.STATEMENTS:
            continue
        for item in block.items:
            if item not in cut_items and _is_unseen(module, block.path, item):
                yield Cut(block, item)


def _is_unseen(module: SourceModule, path: tuple[str, ...], item: Item) -> bool:
    if not item.key.isidentifier() or item.key in {DOCSTRING, IMPORTS}:
        return False
    is_local = bool(path) and path[-1].islower() and isinstance(item.node, cst.SimpleStatementLine)
    return is_local or (not path and (item.key.startswith("_") or (module.is_test and not _is_test(item))))


def _kept_names(module: SourceModule, cuts: Sequence[Cut]) -> frozenset[str]:
    return frozenset(used_names(module.outline.module, _nodes(cuts)))


def _used_names(cuts: Sequence[Cut]) -> frozenset[str]:
    return frozenset(name for node in _nodes(cuts) for name in used_names(node))


def _nodes(cuts: Sequence[Cut]) -> AbstractSet[cst.CSTNode]:
    return {cut.item.node for cut in cuts if cut.item.node is not None}


def _imports(module: SourceModule, wanted: Callable[[str, Ref], bool]) -> tuple[ImportPart, ...]:
    """Return the imports whose local name and origin are wanted."""
    found: list[ImportPart] = []
    for line in module.outline.imports:
        names = tuple(item.key for item in line.names.items)
        code = module.text[line.start : line.end]
        refs = {name: f"{line.module}:{name.partition(' ')[0]}" if line.is_from else f"{name}:" for name in names}
        part = ImportPart(line.module, line.is_from, names, code)
        some = part.only(name for name in names if wanted(bound_name(name), refs[name]))
        found += [some] if some.names else []
    return tuple(found)


def _definitions(module: SourceModule, cuts: Sequence[Cut]) -> dict[str, Item]:
    """Return what the module's body defines and keeps."""
    cut_items = [cut.item for cut in cuts]
    items = [item for block in module.outline.at(()) for item in block.items]
    return {item.key: item for item in items if item not in cut_items and item.key not in {DOCSTRING, IMPORTS}}


def _counts(module: SourceModule, item: Item) -> bool:
    if module.path.name.startswith("test_"):
        return _is_test(item)
    return isinstance(item.node, cst.FunctionDef | cst.ClassDef)


def _is_test(item: Item) -> bool:
    return item.key.startswith(("test_", "Test"))
