"""A Python text as blocks of named items, each with its place in the text.

A block is a row of siblings: the statements of a body, the arguments of a call, the elements of a literal, the
parameters of a function, the entries of a docstring's section. An item is called what a reader would call it, so that
the same item is found in another version of the file wherever it has moved to. Nothing is ever written from the syntax
tree: it says where the text is cut or joined, and all the rest stays as it was typed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import libcst as cst

type Path = tuple[str, ...]
"""Where a block is: the names of what it stands in, the outermost first; empty for the module's body."""

DOCSTRING: Final = "docstring"
IMPORTS: Final = "imports"
PARAMETERS: Final = "parameters"

_COMMENT: Final = re.compile(r"^[ \t]*#.*$|[ \t]{2}#.*$", re.MULTILINE)


class BlockKind(StrEnum):
    """How the items of a block are kept apart."""

    STATEMENTS = "statements"
    """Each has lines of its own, with the comments above it and a text below it."""
    ELEMENTS = "elements"
    """Commas stand between them, line breaks perhaps."""
    ENTRIES = "entries"
    """Each has lines of its own within a docstring."""


@dataclass(frozen=True, slots=True)
class Item:
    """One sibling.

    Attributes:
        key: What it is called among its siblings.
        start: Where it begins; for one with lines of its own, where the first of them does.
        end: Where it ends, commas excluded; for one with lines of its own, behind the last line break.
        node: Its syntax; None for an entry of a docstring.
    """

    key: str
    start: int
    end: int
    node: cst.CSTNode | None


@dataclass(frozen=True, slots=True)
class Block:
    """A row of siblings.

    Attributes:
        path: Where it is.
        kind: How its items are kept apart.
        items: The items, in order.
        start: Where an item goes that is to be the first.
        node: The call, literal or parameters that it is; None for a body and for docstrings.
    """

    path: Path
    kind: BlockKind
    items: tuple[Item, ...]
    start: int
    node: cst.CSTNode | None = None

    def named(self, key: str) -> tuple[Item, ...]:
        """Return the items of a name: none, one, or more where the text repeats itself."""
        return tuple(item for item in self.items if item.key == key)


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One import in the module's body.

    Attributes:
        module: What it imports, or imports from.
        is_from: Whether names are imported from the module, and not itself.
        names: The names, as they are written: `a as b` is one.
        start: Where its first line starts, or that of the comment above it.
        end: Where the line behind it starts.
    """

    module: str
    is_from: bool
    names: Block
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A text with all of its blocks.

    Attributes:
        text: The text.
        module: Its syntax.
        blocks: The blocks by path; more than one where the text repeats itself.
        imports: The imports in the module's body, in order.
    """

    text: str
    module: cst.Module
    blocks: Mapping[Path, tuple[Block, ...]]
    imports: tuple[ImportLine, ...]

    def at(self, path: Path) -> tuple[Block, ...]:
        """Return the blocks of a path: none, one, or more where the text repeats itself."""
        return self.blocks.get(path, ())

    def below(self, path: Path) -> Iterator[Block]:
        """Yield the blocks within a place, at any depth."""
        yield from (block for each, blocks in self.blocks.items() if each[: len(path)] == path for block in blocks)

    def code(self, item: Item) -> str:
        """Return an item's text as it was typed."""
        return self.text[item.start : item.end]


def collapsed(code: str) -> str:
    """Return code without comments and with single spaces: equal where nothing but the form differs."""
    return " ".join(_COMMENT.sub("", code).split())
