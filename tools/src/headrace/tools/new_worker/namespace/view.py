"""What an expression has to do with the namespace, in the place where it stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import libcst as cst

from headrace.tools.new_worker.namespace.ownership import Ownership, Ref, SourceModule
from headrace.tools.new_worker.namespace.syntax import dotted, inner

_COLLECTIONS: Final = frozenset({"frozenset", "set", "tuple", "list", "MappingProxyType"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a local name stands for.

    Attributes:
        is_owned: Whether it holds something of the namespace.
        type_ref: The class of what it holds; None where that is not known.
    """

    is_owned: bool = False
    type_ref: Ref | None = None


@dataclass(frozen=True)
class View:
    """What the names mean in one place.

    Attributes:
        module: The module.
        ownership: What belongs.
        owner: The class that the place is in; None outside of classes.
        local: The function's own names; written to while its statements are read.
        is_strict: Whether one thing of the namespace in an expression makes all of it the namespace's, with no argument
            or element taken out on its own.
    """

    module: SourceModule
    ownership: Ownership
    owner: Ref | None = None
    local: dict[str, Meaning] = field(default_factory=dict)
    is_strict: bool = False

    def within(self, local: Mapping[str, Meaning], *, is_strict: bool = False) -> "View":
        """Return the view inside a function."""
        return replace(self, local={**self.local, **local}, is_strict=is_strict)

    def ref_of(self, node: cst.CSTNode | None) -> Ref | None:
        """Return what a name, or an attribute of a name, refers to; None where that is not known."""
        match node:
            case cst.Name(value=name):
                return self.module.names.get(name) if name not in self.local else None
            case cst.Attribute(value=value, attr=attr):
                base = self._type_of(value) or self.ref_of(value)
                return f"{base}.{attr.value}" if base else None
            case cst.SimpleString(value=text) | cst.Subscript(value=cst.Name(value=text)):
                return self.module.names.get(text.strip("\"'"))
            case _:
                return None

    def meaning_of(self, param: cst.Param) -> Meaning:
        """Return what a parameter holds, from its annotation and default."""
        is_owned = self.owns(param) or self._is_fixture(param.name.value)
        return Meaning(is_owned, self.ref_of(param.annotation.annotation if param.annotation else None))

    def owns(self, node: cst.CSTNode) -> bool:
        """Tell whether an expression would have no meaning without the namespace."""
        match node:
            case cst.Name() | cst.Attribute():
                return self._owns_name(node)
            case cst.SimpleString():
                return isinstance(node.evaluated_value, str) and self.ownership.names(node.evaluated_value)
            case cst.Call():
                return self._owns_call(node)
            case cst.Dict() | cst.Set() | cst.List() if node.elements and not self.is_strict:
                return all(self.owns(element) for element in node.elements)
            case cst.Annotation(annotation=annotation):
                return replace(self, is_strict=True).owns(annotation)
            case _:
                return any(self.owns(child) for child in _values_of(node))

    def _owns_name(self, node: cst.Name | cst.Attribute) -> bool:
        if isinstance(node, cst.Name) and node.value in self.local:
            return self.local[node.value].is_owned
        ref = self.ref_of(node)
        is_owned = ref is not None and self.ownership.owns(ref)
        return is_owned or (isinstance(node, cst.Attribute) and self.owns(node.value))

    def drops(self, call: cst.Call, index: int) -> bool:
        """Tell whether an argument goes without the namespace and the call stays."""
        if self.is_strict:
            return False
        is_element = dotted(call.func) in _COLLECTIONS and self.owns(call.args[index].value)
        return is_element or self._is_for_owned(call, index)

    def _owns_call(self, call: cst.Call) -> bool:
        if self.is_strict and any(self._is_for_owned(call, index) for index in range(len(call.args))):
            return True
        parts = [arg.value for index, arg in enumerate(call.args) if not self.drops(call, index)]
        return any(self.owns(each) for each in (call.func, *parts))

    def _is_for_owned(self, call: cst.Call, index: int) -> bool:
        """Tell whether an argument is for a parameter of the namespace."""
        callee = self.owner if dotted(call.func) == "cls" else self.ref_of(call.func)
        name = self._parameter(callee, call.args[index], index) if callee and not call.args[index].star else None
        return bool(callee and name and self.ownership.owns_parameter(callee, name))

    def _parameter(self, callee: Ref, arg: cst.Arg, index: int) -> str | None:
        if arg.keyword is not None:
            return arg.keyword.value
        parameters = self.ownership.parameters(callee)
        return parameters[index] if index < len(parameters) else None

    def _type_of(self, node: cst.CSTNode) -> Ref | None:
        name = dotted(node)
        if name in {"self", "cls"}:
            return self.owner
        return self.local[name].type_ref if name in self.local else None

    def _is_fixture(self, name: str) -> bool:
        """Tell whether a test's parameter is a fixture of the namespace, its module's own or that of a folder above."""
        if not self.module.is_test:
            return False
        if name in self.module.names:
            return self.ownership.owns(self.module.names[name])
        parts = self.module.name.split(".")
        return any(
            self.ownership.owns(f"{'.'.join([*parts[:depth], 'conftest'])}:{name}") for depth in range(1, len(parts))
        )


def _values_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what is evaluated of a node, without a name of its own that is no reference."""
    match node:
        case cst.Arg(value=value):
            yield value
        case cst.Param(annotation=annotation, default=default):
            yield from (each for each in (annotation, default) if each is not None)
        case _:
            yield from inner(node)
