"""What would go from a module if the namespace went: the statements, parameters and elements that depend on it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from headrace.tools.new_worker.namespace.outline import (
    DOCSTRING,
    IMPORTS,
    PARAMETERS,
    Block,
    BlockKind,
    Item,
    Path,
)
from headrace.tools.new_worker.namespace.ownership import Ownership, Ref, SourceModule
from headrace.tools.new_worker.namespace.syntax import bodies_of, dotted, headers_of, parameters_of
from headrace.tools.new_worker.namespace.view import Meaning, View


@dataclass(frozen=True, slots=True)
class Cut:
    """One item that depends on the namespace, and on nothing that stays but its block."""

    block: Block
    item: Item


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an item.

    Attributes:
        is_whole: Whether all of it goes.
        cuts: What goes of it, where not all of it does.
    """

    is_whole: bool = False
    cuts: tuple[Cut, ...] = ()


_WHOLE = Verdict(is_whole=True)
_KEPT = Verdict()


def cuts_of(module: SourceModule, ownership: Ownership) -> tuple[Cut, ...]:
    """Return what depends on the namespace, and note in the ownership what that makes its own.

    To be repeated over all modules until the ownership has stopped growing.
    """
    cutting = _Cutting(module, ownership)
    cutting.learn_names()
    verdict = cutting.body((), View(module, ownership), is_scope=True)
    return tuple(sorted(verdict.cuts, key=lambda cut: cut.item.start))


@dataclass(frozen=True)
class _Cutting:
    """One pass over one module."""

    module: SourceModule
    ownership: Ownership

    def learn_names(self) -> None:
        """Hand on what the module imports, so that it is known by the module's name too."""
        for name, ref in self.module.names.items():
            if not ref.startswith(f"{self.module.name}:"):
                self.ownership.learn_alias(f"{self.module.name}:{name}", ref)

    def body(self, path: Path, view: View, *, is_scope: bool) -> Verdict:
        """Judge a body.

        Args:
            path: Where it is.
            view: What names mean in it.
            is_scope: Whether it is a class's or the module's, whose names others see.
        """
        cuts: list[Cut] = []
        num_kept = 0
        for block in self.module.outline.at(path)[:1]:
            for item in block.items:
                verdict = self._judged(path, item, view, is_scope=is_scope)
                num_kept += not verdict.is_whole and item.key not in {DOCSTRING, IMPORTS}
                cuts += [Cut(block, item)] if verdict.is_whole else verdict.cuts
        return Verdict(is_whole=bool(cuts) and not num_kept, cuts=tuple(cuts))

    def _judged(self, path: Path, item: Item, view: View, *, is_scope: bool) -> Verdict:
        ref = f"{view.owner}.{item.key}" if view.owner else f"{self.module.name}:{item.key}"
        if is_scope and self.ownership.is_root(ref):
            verdict = _WHOLE
        else:
            verdict = self._item((*path, item.key), item, view, ref if is_scope else None)
        if is_scope and verdict.is_whole:
            self.ownership.add(ref)
        return verdict

    def _item(self, path: Path, item: Item, view: View, ref: Ref | None) -> Verdict:
        match item.node:
            case _ if item.key in {DOCSTRING, IMPORTS}:
                return _KEPT
            case cst.FunctionDef():
                return self._function(path, item.node, view, ref or "")
            case cst.ClassDef():
                return self._class(path, item.node, view, ref or "")
            case cst.SimpleStatementLine():
                return self._simple(path, item.node, view, is_scope=ref is not None)
            case cst.BaseCompoundStatement():
                return self._compound(path, item.node, view)
            case _:
                return _KEPT

    def _function(self, path: Path, node: cst.FunctionDef, view: View, ref: Ref) -> Verdict:
        params = [each for each in parameters_of(node.params) if isinstance(each, cst.Param)]
        meanings = {each.name.value: view.meaning_of(each) for each in params}
        named = [name for name in meanings if name not in {"self", "cls"}]
        self.ownership.learn(ref, tuple(named))
        owned = [name for name in named if meanings[name].is_owned]
        if self.module.is_test and node.name.value.startswith("test"):
            inner = view.within(meanings, is_strict=True)
            return _WHOLE if owned or any(inner.owns(each) for each in (*node.decorators, node.body)) else _KEPT
        if (named and owned == named) or any(view.owns(each) for each in (*node.decorators, node.returns) if each):
            return _WHOLE
        for name in owned:
            self.ownership.add(f"{ref}({name})")
        verdict = self.body(path, view.within(meanings), is_scope=False)
        if verdict.is_whole or self._loses_result(node, verdict):
            return _WHOLE
        return replace(verdict, cuts=(*verdict.cuts, *self._parameter_cuts(path, owned)))

    def _loses_result(self, node: cst.FunctionDef, verdict: Verdict) -> bool:
        """Tell whether the return at a function's end goes."""
        last = node.body.body[-1]
        return any(cut.item.node is last and cut.item.key.startswith("return") for cut in verdict.cuts)

    def _parameter_cuts(self, path: Path, names: Iterable[str]) -> Iterator[Cut]:
        wanted = set(names)
        yield from self._named((*path, PARAMETERS), wanted)
        yield from self._entries(path, wanted)
        if path[-1] == "__init__":
            yield from self._entries(path[:-1], wanted)

    def _entries(self, path: Path, names: set[str]) -> Iterator[Cut]:
        yield from self._named((*path, DOCSTRING, "Args:"), names)
        yield from self._named((*path, DOCSTRING, "Attributes:"), names)

    def _named(self, path: Path, names: set[str]) -> Iterator[Cut]:
        for block in self.module.outline.at(path)[:1]:
            yield from (Cut(block, item) for item in block.items if item.key in names)

    def _class(self, path: Path, node: cst.ClassDef, view: View, ref: Ref) -> Verdict:
        if any(view.owns(each) for each in (*node.bases, *node.keywords, *node.decorators)):
            return _WHOLE
        verdict = self.body(path, replace(view, owner=ref, local={}), is_scope=True)
        if verdict.is_whole:
            return _WHOLE
        self._learn_fields(path, ref)
        fields = {cut.item.key for cut in verdict.cuts if cut.block.path == path}
        return replace(verdict, cuts=(*verdict.cuts, *self._entries(path, fields)))

    def _learn_fields(self, path: Path, ref: Ref) -> None:
        """Note how objects are made: from the parameters of `__init__`, or else from the annotated fields."""
        if parameters := self.ownership.parameters(f"{ref}.__init__"):
            self.ownership.learn(ref, parameters)
            return
        items = [item for block in self.module.outline.at(path)[:1] for item in block.items]
        fields = [item.key for item in items if _is_field(item.node)]
        self.ownership.learn(ref, tuple(fields))
        for name in fields:
            if self.ownership.owns(f"{ref}.{name}"):
                self.ownership.add(f"{ref}({name})")

    def _simple(self, path: Path, node: cst.SimpleStatementLine, view: View, *, is_scope: bool) -> Verdict:
        strict = replace(view, is_strict=True)
        is_owned = any((strict if isinstance(each, cst.TypeAlias) else view).owns(each) for each in node.body)
        value = _value_of(node)
        if not is_scope:
            type_ref = view.ref_of(value.func) if isinstance(value, cst.Call) else None
            self._bind(node, view, Meaning(is_owned=is_owned, type_ref=type_ref))
        if is_owned:
            return _WHOLE
        return Verdict(cuts=tuple(self._element_cuts(path, view)))

    def _bind(self, node: cst.SimpleStatementLine, view: View, meaning: Meaning) -> None:
        for target in _targets_of(node):
            if isinstance(target, cst.Name):
                view.local[target.value] = meaning
            elif meaning.is_owned and dotted(target).startswith("self.") and (ref := view.ref_of(target)):
                self.ownership.add(ref)

    def _element_cuts(self, path: Path, view: View) -> Iterator[Cut]:
        gone: list[Item] = []
        for block in self.module.outline.below(path):
            for index, item in enumerate(block.items):
                is_within = any(each.start <= item.start < each.end for each in gone)
                if not is_within and self._goes(block, index, item, view):
                    gone.append(item)
                    yield Cut(block, item)

    def _goes(self, block: Block, index: int, item: Item, view: View) -> bool:
        if isinstance(block.node, cst.Call):
            return view.drops(block.node, index)
        return block.kind is BlockKind.ELEMENTS and item.node is not None and view.owns(item.node)

    def _compound(self, path: Path, node: cst.BaseCompoundStatement, view: View) -> Verdict:
        if any(view.owns(each) for each in headers_of(node)):
            return _WHOLE
        verdicts = [self.body((*path, label), view, is_scope=False) for label, _ in bodies_of(node)]
        if verdicts and verdicts[0].is_whole:
            return _WHOLE
        return Verdict(cuts=tuple(cut for verdict in verdicts for cut in verdict.cuts))


def _is_field(node: cst.CSTNode | None) -> bool:
    match node:
        case cst.SimpleStatementLine(body=[cst.AnnAssign()]):
            return True
        case _:
            return False


def _value_of(node: cst.SimpleStatementLine) -> cst.BaseExpression | None:
    match node.body:
        case [cst.Assign(value=value)] | [cst.AnnAssign(value=value)]:
            return value
        case _:
            return None


def _targets_of(node: cst.SimpleStatementLine) -> tuple[cst.BaseExpression, ...]:
    match node.body:
        case [cst.Assign(targets=targets)]:
            return tuple(each.target for each in targets)
        case [cst.AnnAssign(target=target)]:
            return (target,)
        case _:
            return ()
