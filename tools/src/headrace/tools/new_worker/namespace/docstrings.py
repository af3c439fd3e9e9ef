"""The entries of a docstring's sections: what it says of each parameter or attribute."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from headrace.tools.new_worker.namespace.outline import DOCSTRING, Block, BlockKind, Item, Path

_SECTION: Final = re.compile(r"(?:Args|Attributes):")
_NAME: Final = re.compile(r"\*{0,2}(\w+)")

type Line = tuple[int, str]
"""Where a line starts in the file, and the line."""


def docstring_blocks(path: Path, lines: Sequence[Line]) -> Iterator[Block]:
    """Yield a block for each section that has an entry for each name.

    Args:
        path: Where the class or function is.
        lines: Its docstring.
    """
    for number, (_, line) in enumerate(lines):
        if _SECTION.fullmatch(line.strip()):
            inner = list(takewhile(lambda each: _indent(each[1]) > _indent(line), lines[number + 1 :]))  # noqa: B023 - used at once
            if items := tuple(_entries(inner)):
                yield Block((*path, DOCSTRING, line.strip()), BlockKind.ENTRIES, items, items[0].start)


def _entries(lines: Sequence[Line]) -> Iterator[Item]:
    heads = [number for number, (_, line) in enumerate(lines) if _indent(line) == _indent(lines[0][1])]
    for head, after in zip(heads, [*heads[1:], len(lines)], strict=True):
        (start, first), (last_start, last) = lines[head], lines[after - 1]
        if name := _NAME.match(first.strip()):
            yield Item(name[1], start, last_start + len(last), None)


def _indent(line: str) -> int:
    """Return the width of a line's indentation; an empty line has none and so ends a section."""
    return len(line) - len(line.lstrip()) if line.strip() else 0
