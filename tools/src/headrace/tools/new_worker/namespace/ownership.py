"""What belongs to the namespace outside of its own folder, as far as is known while files are read."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import libcst as cst

from headrace.tools.new_worker.namespace.drawing import outline_of
from headrace.tools.new_worker.namespace.outline import Outline
from headrace.tools.new_worker.namespace.syntax import dotted, imports_of

type Ref = str
"""Something that a module defines: `package.module:Class.member`; a parameter is `package.module:function(name)`."""


@dataclass(frozen=True)
class SourceModule:
    """One Python file of the tree that the namespace is taken from.

    Attributes:
        path: From the root of the tree.
        name: How it is imported.
        text: The file.
    """

    path: PurePosixPath
    name: str
    text: str

    @property
    def is_test(self) -> bool:
        """Whether it is a test or serves tests."""
        return "tests" in self.path.parts

    @property
    def outline(self) -> Outline:
        """Its blocks."""
        return outline_of(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name and word in it."""
        return frozenset(re.findall(r"\w+", self.text))

    @cached_property
    def names(self) -> Mapping[str, Ref]:
        """What each name in the module's body stands for: what it defines, and what it imports."""
        defined = {item.key: f"{self.name}:{item.key}" for block in self.outline.at(()) for item in block.items}
        imported = {
            local: ref for node in imports_of(self.outline.module) for local, ref in _imported(node) if ref is not None
        }
        return defined | imported


def _imported(node: cst.Import | cst.ImportFrom) -> Iterable[tuple[str, Ref | None]]:
    if isinstance(node.names, cst.ImportStar):
        return
    for alias in node.names:
        local = dotted(alias.asname.name) if alias.asname else dotted(alias.name)
        yield local, f"{dotted(node.module)}:{alias.name.value}" if isinstance(node, cst.ImportFrom) else None


class Ownership:
    """What belongs to the namespace; grows, and never forgets.

    Args:
        modules: The modules that are its own, with all below them.
        roots: What is its own in modules that are not: by module, what the name within it matches.
        texts: Strings that name something of its own, such as its tables.
    """

    def __init__(self, modules: Iterable[str], roots: Mapping[str, re.Pattern[str]], texts: Iterable[str]) -> None:
        self._modules = set(modules)
        self._roots = roots
        self._texts = frozenset(texts)
        self._refs: set[Ref] = set()
        self._words: defaultdict[str, set[str]] = defaultdict(set)
        self._aliases: dict[Ref, Ref] = {}
        self._signatures: dict[Ref, tuple[str, ...]] = {}

    @property
    def size(self) -> int:
        """How much is known; the same after a pass that learned nothing."""
        return len(self._refs) + len(self._modules)

    def add(self, ref: Ref) -> None:
        """Note that something belongs."""
        module, _, name = ref.partition(":")
        self._refs.add(ref)
        self._words[module].update(re.findall(r"\w+", name)[-1:])

    def add_module(self, name: str) -> None:
        """Note that a module belongs, with all below it."""
        self._modules.add(name)

    def learn(self, ref: Ref, parameters: tuple[str, ...]) -> None:
        """Note what a function, or the making of an object of a class, takes, in order."""
        self._signatures[ref] = parameters

    def learn_alias(self, ref: Ref, target: Ref) -> None:
        """Note that a module hands on what another one defines."""
        self._aliases[ref] = target

    def parameters(self, ref: Ref) -> tuple[str, ...]:
        """Return what was learned of a function or class; empty where nothing was."""
        return self._signatures.get(self._resolved(ref), ())

    def concerns(self, module: SourceModule) -> bool:
        """Tell whether a module may have to do with the namespace; False only where it cannot."""
        if module.name in self._roots or self._texts & module.words:
            return True
        return any(each in module.text for each in self._modules) or any(
            words & module.words and (each in module.text or _is_conftest_of(each, module.name))
            for each, words in self._words.items()
        )

    def is_root(self, ref: Ref) -> bool:
        """Tell whether something belongs because of what it is called."""
        module, _, name = ref.partition(":")
        return module in self._roots and self._roots[module].fullmatch(name) is not None

    def names(self, text: str) -> bool:
        """Tell whether a string is the name of something that belongs."""
        return text in self._texts

    def owns_module(self, name: str) -> bool:
        """Tell whether a module belongs."""
        parts = name.split(".")
        return any(".".join(parts[:depth]) in self._modules for depth in range(1, len(parts) + 1))

    def owns(self, ref: Ref) -> bool:
        """Tell whether something belongs: because its module does, or itself."""
        resolved = self._resolved(ref)
        module, _, name = resolved.partition(":")
        return resolved in self._refs or self.owns_module(module) or self.owns_module(f"{module}.{name}")

    def owns_parameter(self, ref: Ref, name: str) -> bool:
        """Tell whether a parameter of a function, or of a class when objects are made, belongs."""
        resolved = self._resolved(ref)
        return any(each in self._refs for each in (f"{resolved}({name})", f"{resolved}.__init__({name})"))

    def _resolved(self, ref: Ref) -> Ref:
        module, _, qualified = ref.partition(":")
        name, dot, rest = qualified.partition(".")
        head = f"{module}:{name}"
        return self._aliases.get(head, head) + dot + rest


def _is_conftest_of(name: str, module: str) -> bool:
    return name.endswith(".conftest") and module.startswith(name.removesuffix("conftest"))
