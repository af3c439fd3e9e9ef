"""An edit of a shared Python file, made from the namespace's share of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

import libcst as cst

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, Edit, EditOutcome
from headrace.tools.new_worker.namespace.drawing import outline_of
from headrace.tools.new_worker.namespace.grafting import graft, prune
from headrace.tools.new_worker.namespace.importing import bound_name, graft_imports, prune_imports
from headrace.tools.new_worker.namespace.outline import Outline
from headrace.tools.new_worker.namespace.parts import MisfitError
from headrace.tools.new_worker.namespace.slices import Slice
from headrace.tools.new_worker.namespace.texts import Splice, spliced

type Tidy = Callable[[str, str], str]
"""Brings a new text into the form that the old one had."""


def python_edit(path: PurePosixPath, share: Slice, root_package: str, tidy: Tidy = lambda _, new: new) -> Edit:
    """Return the edit that gives a file the namespace's share, or takes it away.

    Args:
        path: The file.
        share: What the namespace has in it.
        root_package: The tree's own package.
        tidy: What the text goes through afterwards.
    """
    editor = _PythonEditor(path, share, root_package, tidy)
    return Edit(path, editor.apply, editor.revert)


@dataclass(frozen=True, slots=True)
class _PythonEditor:
    path: PurePosixPath
    share: Slice
    root_package: str
    tidy: Tidy

    def apply(self, text: str) -> EditOutcome:
        return self._outcome(text, self._grafted)

    def revert(self, text: str) -> EditOutcome:
        return self._outcome(text, self._pruned)

    def _outcome(self, text: str, change: Callable[[Outline], Iterable[Splice]]) -> EditOutcome:
        try:
            splices = tuple(change(outline_of(text)))
        except cst.ParserSyntaxError as error:
            return Cannot(f"{self.path} is no valid Python: {error.message} in line {error.raw_line}.")
        except MisfitError as misfit:
            return Cannot(f"{self.path}: {misfit}. Give it the guideline's form, or make this change by hand.")
        return Done(self.tidy(text, spliced(text, splices))) if splices else AlreadyThere()

    def _grafted(self, outline: Outline) -> Iterable[Splice]:
        bound = _bound_names(outline)
        if missing := sorted(self.share.definitions - bound):
            raise MisfitError(f"it defines no `{missing[0]}`, which the namespace's part of it uses")
        needs = (part.only(name for name in part.names if bound_name(name) not in bound) for part in self.share.needs)
        yield from graft_imports(outline, [*self.share.imports, *needs], self.root_package)
        yield from graft(outline, self.share.parts)

    def _pruned(self, outline: Outline) -> Iterable[Splice]:
        yield from prune_imports(outline, self.share.imports)
        yield from prune(outline, self.share.parts)


def _bound_names(outline: Outline) -> frozenset[str]:
    """Return the names that a module's body defines and imports."""
    defined = (item.key for block in outline.at(()) for item in block.items)
    imported = (bound_name(item.key) for line in outline.imports for item in line.names.items)
    return frozenset((*defined, *imported))
