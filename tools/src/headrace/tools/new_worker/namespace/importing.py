"""Puts imports into a text and takes them out, keeping them sorted the way the formatter does."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from headrace.tools.new_worker.namespace.grafting import pruned, slot_behind
from headrace.tools.new_worker.namespace.outline import DOCSTRING, BlockKind, ImportLine, Outline
from headrace.tools.new_worker.namespace.parts import MisfitError, Part
from headrace.tools.new_worker.namespace.texts import Splice

_OWN_FOLDERS: Final = frozenset({"om", "infra", "tools", "workers", "tests", "conftest"})


@dataclass(frozen=True, slots=True)
class ImportPart:
    """Names to import from a module, or a module to import.

    Attributes:
        module: The module.
        is_from: Whether names are imported from it.
        names: The names as they are written: `a as b` is one.
        code: The whole statement, with its line break.
    """

    module: str
    is_from: bool
    names: tuple[str, ...]
    code: str

    def only(self, names: Iterable[str]) -> "ImportPart":
        """Return the same for fewer names."""
        fewer = tuple(names)
        code = self.code if fewer == self.names else f"from {self.module} import {', '.join(fewer)}\n"
        return replace(self, names=fewer, code=code)


@dataclass(frozen=True, slots=True)
class _Section:
    """Imports in a row, with no blank line between them."""

    rank: int
    lines: tuple[ImportLine, ...]

    @property
    def start(self) -> int:
        return self.lines[0].start

    @property
    def end(self) -> int:
        return self.lines[-1].end


def graft_imports(outline: Outline, parts: Iterable[ImportPart], root_package: str) -> tuple[Splice, ...]:
    """Return the splices that add imports where they sort; none for those that are there.

    Args:
        outline: The text.
        parts: What to import.
        root_package: The tree's own package, whose imports have a section of their own.

    Raises:
        MisfitError: A name is imported from elsewhere.
    """
    splices: list[Splice] = []
    new: list[ImportPart] = []
    for part in parts:
        lines = _lines_of(outline, part)
        present = {item.key for line in lines for item in line.names.items}
        if not (missing := part.only(name for name in part.names if name not in present)).names:
            continue
        _refuse_clash(outline, missing)
        if lines:
            splices += _joined(outline, lines[0], missing)
        else:
            new.append(missing)
    return (*splices, *_new_lines(outline, new, root_package))


def prune_imports(outline: Outline, parts: Iterable[ImportPart]) -> tuple[Splice, ...]:
    """Return the splices that take imports out; none for those that are not there."""
    gone = {(part.module, part.is_from): set(part.names) for part in parts}
    splices: list[Splice] = []
    for section in _sections(outline, ""):
        left = [line for line in section.lines if _keeps(line, gone)]
        if not left:
            splices.append(_section_splice(outline, section))
            continue
        for line in section.lines:
            if line not in left:
                splices.append(Splice(line.start, line.end))
            else:
                splices += pruned(outline.text, line.names, gone.get((line.module, line.is_from), set()))
    return tuple(splices)


def _keeps(line: ImportLine, gone: dict[tuple[str, bool], set[str]]) -> bool:
    return bool({item.key for item in line.names.items} - gone.get((line.module, line.is_from), set()))


def _section_splice(outline: Outline, section: _Section) -> Splice:
    """Return the splice that takes a whole section out, with the blank line above it."""
    if outline.text[: section.start].endswith("\n\n"):
        return Splice(section.start - 1, section.end)
    return Splice(section.start, section.end + outline.text.startswith("\n", section.end))


def _lines_of(outline: Outline, part: ImportPart) -> list[ImportLine]:
    return [line for line in outline.imports if (line.module, line.is_from) == (part.module, part.is_from)]


def _refuse_clash(outline: Outline, part: ImportPart) -> None:
    bound = {bound_name(item.key): line.module for line in outline.imports for item in line.names.items}
    for name in part.names:
        if (other := bound.get(bound_name(name))) is not None and part.is_from:
            raise MisfitError(f"`{bound_name(name)}` is imported from {other} there, and belongs to {part.module}")


def bound_name(name: str) -> str:
    """Return what an imported name is called in the module: `b` for `a as b`."""
    return name.rpartition(" as ")[2].partition(".")[0]


def _joined(outline: Outline, line: ImportLine, part: ImportPart) -> Iterator[Splice]:
    """Yield the splices that add names to an import."""
    for name in sorted(part.names, key=_name_order):
        before = [item.key for item in line.names.items if _name_order(item.key) < _name_order(name)]
        piece = Part(line.names.path, BlockKind.ELEMENTS, name, name, after=before[-1] if before else None)
        yield slot_behind(outline.text, line.names, piece).splice(piece)


def _name_order(name: str) -> tuple[int, str, str]:
    """Return the formatter's order of names: constants, classes, everything else."""
    plain = name.partition(" ")[0]
    rank = 0 if len(plain) > 1 and plain.isupper() else 1 if plain[:1].isupper() else 2
    return rank, plain.lower(), plain


def _new_lines(outline: Outline, parts: Sequence[ImportPart], root_package: str) -> Iterator[Splice]:
    sections = _sections(outline, root_package)
    ranked = sorted(parts, key=lambda part: (_rank(part.module, root_package), _line_order(part)))
    for rank, group in groupby(ranked, key=lambda part: _rank(part.module, root_package)):
        members = list(group)
        own = [section for section in sections if section.rank == rank]
        if own:
            yield from (_sorted_in(own[-1], part) for part in members)
        else:
            yield _new_section(outline, sections, rank, "".join(part.code for part in members))


def _sorted_in(section: _Section, part: ImportPart) -> Splice:
    before = [line for line in section.lines if _line_order(line) < _line_order(part)]
    offset = before[-1].end if before else section.start
    return Splice(offset, offset, part.code)


def _new_section(outline: Outline, sections: Sequence[_Section], rank: int, code: str) -> Splice:
    before = [section.end for section in sections if section.rank < rank]
    docstrings = [item.end for block in outline.at(()) for item in block.named(DOCSTRING)]
    if ends := before or docstrings:
        return Splice(ends[-1], ends[-1], f"\n{code}")
    return Splice(0, 0, f"{code}\n")


def _sections(outline: Outline, root_package: str) -> tuple[_Section, ...]:
    sections: list[_Section] = []
    for line in outline.imports:
        if sections and sections[-1].end == line.start:
            sections[-1] = replace(sections[-1], lines=(*sections[-1].lines, line))
        else:
            sections.append(_Section(_rank(line.module, root_package), (line,)))
    return tuple(sections)


def _rank(module: str, root_package: str) -> int:
    """Return the place of a module's section: the future's, the standard library's, others', the tree's own."""
    top = module.partition(".")[0]
    if top == "__future__":
        return 0
    if top in sys.stdlib_module_names:
        return 1
    return 3 if top == root_package or top in _OWN_FOLDERS else 2


def _line_order(line: ImportLine | ImportPart) -> tuple[bool, str]:
    return line.is_from, line.module
