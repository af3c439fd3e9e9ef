"""What is carried from one text to another: items with where they belong."""

from dataclasses import dataclass, replace

from headrace.tools.new_worker.namespace.outline import Block, BlockKind, Item, Path
from headrace.tools.new_worker.namespace.texts import blank_end, comments_start, line_start, next_line


class MisfitError(Exception):
    """A text is not made so that a part can be put into it, or taken out; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One item to carry.

    Attributes:
        path: The block that it belongs in.
        kind: How the items of that block are kept apart.
        key: What it is called there.
        code: Its text; whole lines where it has lines of its own.
        above: The lines of comment above an element, whole.
        behind: What follows an element's comma on its line.
        after: The sibling that it stands behind; None for the first.
        is_close: Whether the next sibling follows without a blank line.
        is_free: Whether what has its name in a text may say something else: a test, or a sentence of a docstring.
    """

    path: Path
    kind: BlockKind
    key: str
    code: str
    above: str = ""
    behind: str = ""
    after: str | None = None
    is_close: bool = False
    is_free: bool = False

    @property
    def place(self) -> str:
        """Its block, for a reader."""
        return f"`{' / '.join(self.path)}`" if self.path else "the module's body"


def has_own_line(text: str, item: Item) -> bool:
    """Tell whether nothing but an element, its comma and a comment stands on its lines."""
    before = text[line_start(text, item.start) : item.start]
    behind = text[item.end : next_line(text, item.end)].strip().removeprefix(",").strip()
    return not before.strip() and (not behind or behind.startswith("#"))


def has_comma(text: str, item: Item) -> bool:
    """Tell whether a comma follows an element directly."""
    return text.startswith(",", item.end)


def framed(text: str, block: Block, item: Item) -> Part:
    """Return what is carried for an item: its code, what stands around it, and the sibling before it."""
    index = block.items.index(item)
    following = block.items[index + 1 : index + 2]
    part = Part(
        path=block.path,
        kind=block.kind,
        key=item.key,
        code=text[item.start : item.end],
        after=block.items[index - 1].key if index else None,
        is_close=any(blank_end(text, each.start) == each.start for each in following),
    )
    if block.kind is not BlockKind.ELEMENTS or not (has_own_line(text, item) and has_comma(text, item)):
        return part
    above = text[comments_start(text, item.start) : line_start(text, item.start)]
    return replace(part, above=above, behind=text[item.end + 1 : next_line(text, item.end)].rstrip("\n"))
