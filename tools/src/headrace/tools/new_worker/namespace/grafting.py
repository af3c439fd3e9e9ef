"""Puts parts into a text and takes them out: the text is cut and joined, and nothing else in it changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import groupby
from operator import attrgetter

from headrace.tools.new_worker.namespace.outline import (
    DOCSTRING,
    IMPORTS,
    Block,
    BlockKind,
    Item,
    Outline,
    Path,
    collapsed,
)
from headrace.tools.new_worker.namespace.parts import MisfitError, Part, has_comma, has_own_line
from headrace.tools.new_worker.namespace.texts import Splice, blank_end, comments_start, line_start, next_line


class Form(Enum):
    """What stands around a part where it is put."""

    LINES = auto()
    """Nothing: it is whole lines."""
    BELOW_BLANK_LINE = auto()
    """The blank lines that it would bring along are there."""
    OWN_LINE = auto()
    """A line of its own, with a comma."""
    BEHIND = auto()
    """A comma before it."""
    BEFORE = auto()
    """A comma behind it."""
    ALONE = auto()
    """Nothing: there are no siblings."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for parts."""

    offset: int
    form: Form
    indent: str = ""

    def splice(self, part: Part) -> Splice:
        """Return the splice that puts a part here."""
        return Splice(self.offset, self.offset, self._text(part))

    def _text(self, part: Part) -> str:
        match self.form:
            case Form.LINES | Form.ALONE:
                return part.code
            case Form.BELOW_BLANK_LINE:
                return part.code[blank_end(part.code, 0) :]
            case Form.OWN_LINE:
                return f"{part.above}{self.indent}{part.code},{part.behind}\n"
            case Form.BEHIND:
                return f", {part.code}"
            case Form.BEFORE:
                return f"{part.code}, "

    def next(self) -> "Slot":
        """Return the place behind a part that was put here."""
        later = {Form.ALONE: Form.BEHIND, Form.BELOW_BLANK_LINE: Form.LINES}
        return replace(self, form=later.get(self.form, self.form))


def graft(outline: Outline, parts: Iterable[Part]) -> tuple[Splice, ...]:
    """Return the splices that put parts where they belong; none for those that are there.

    Args:
        outline: The text.
        parts: In the order in which they stand to each other.

    Raises:
        MisfitError: The block or the sibling that a part belongs to is missing or is there twice, or something else has
            its name.
    """
    splices: list[Splice] = []
    slots: dict[tuple[Path, str | None], Slot] = {}
    for part in parts:
        block = _block_of(outline, part)
        if block is None or _is_there(outline, block, part):
            continue
        slot = slots.get((part.path, part.after)) or slot_behind(outline.text, block, part)
        slots[part.path, part.key] = slot.next()
        splices.append(slot.splice(part))
    return tuple(splices)


def prune(outline: Outline, parts: Iterable[Part]) -> tuple[Splice, ...]:
    """Return the splices that take parts out; none for those that are not there.

    Raises:
        MisfitError: A block is there twice, or something else has a part's name.
    """
    splices: list[Splice] = []
    for _, group in groupby(sorted(parts, key=attrgetter("path")), key=attrgetter("path")):
        members = list(group)
        block = _block_of(outline, members[0])
        if block is not None:
            gone = {part.key for part in members if _is_there(outline, block, part)}
            splices += pruned(outline.text, block, gone)
    return tuple(splices)


def slot_behind(text: str, block: Block, part: Part) -> Slot:
    """Return the place behind the sibling that a part follows.

    Raises:
        MisfitError: The sibling is missing or is there twice.
    """
    anchor = _anchor_of(block, part)
    if block.kind is not BlockKind.ELEMENTS:
        return _line_slot(text, anchor.end if anchor else block.start, part)
    if anchor is None:
        return _first_slot(text, block)
    if not (has_own_line(text, anchor) and has_comma(text, anchor)):
        return Slot(anchor.end, Form.BEHIND)
    return Slot(next_line(text, anchor.end), Form.OWN_LINE, text[line_start(text, anchor.start) : anchor.start])


def _line_slot(text: str, offset: int, part: Part) -> Slot:
    """Return the place for whole lines: below the docstring's blank line, where what follows brought none along."""
    below = blank_end(text, offset)
    if part.after == DOCSTRING and part.is_close and blank_end(part.code, 0) and below > offset:
        return Slot(below, Form.BELOW_BLANK_LINE)
    return Slot(offset, Form.LINES)


def _first_slot(text: str, block: Block) -> Slot:
    if not block.items:
        return Slot(block.start, Form.ALONE)
    first = block.items[0]
    if not (has_own_line(text, first) and has_comma(text, first)):
        return Slot(first.start, Form.BEFORE)
    return Slot(comments_start(text, first.start), Form.OWN_LINE, text[line_start(text, first.start) : first.start])


def _anchor_of(block: Block, part: Part) -> Item | None:
    if part.after is None:
        return None
    found = block.named(part.after)
    if len(found) == 1:
        return found[0]
    if part.after == IMPORTS and not found:
        return next(iter(block.named(DOCSTRING)), None)
    if part.after == DOCSTRING and not found:
        return None
    raise MisfitError(
        f"{part.place} has {'no' if not found else 'more than one'} `{part.after}`, behind which `{part.key}` belongs"
    )


def _block_of(outline: Outline, part: Part) -> Block | None:
    """Return the block that a part belongs to; None where a docstring tells nothing of names."""
    found = outline.at(part.path)
    if len(found) == 1:
        return found[0]
    if not found and part.kind is BlockKind.ENTRIES:
        return None
    raise MisfitError(f"it has {'no' if not found else 'more than one'} {part.place}, where `{part.key}` belongs")


def _is_there(outline: Outline, block: Block, part: Part) -> bool:
    found = block.named(part.key)
    if len(found) > 1:
        raise MisfitError(f"{part.place} has more than one `{part.key}`")
    if not found:
        return False
    if not part.is_free and collapsed(outline.code(found[0])) != collapsed(part.code):
        raise MisfitError(f"{part.place} has another `{part.key}` than the namespace needs")
    return True


def pruned(text: str, block: Block, gone: set[str]) -> Iterator[Splice]:
    """Yield the splices that take items out of a block."""
    for is_gone, run in groupby(enumerate(block.items), key=lambda each: each[1].key in gone):
        if is_gone:
            members = [index for index, _ in run]
            yield from _pruned_run(text, block, members)


def _pruned_run(text: str, block: Block, run: Sequence[int]) -> Iterator[Splice]:
    """Yield the splices for items that stand in a row."""
    first, last = block.items[run[0]], block.items[run[-1]]
    if block.kind is not BlockKind.ELEMENTS:
        yield Splice(blank_end(text, first.start) if _leaves_blank_line(text, block, run) else first.start, last.end)
    elif has_own_line(text, first) and has_comma(text, last):
        yield Splice(comments_start(text, first.start), next_line(text, last.end))
    elif run[0] > 0:
        yield Splice(block.items[run[0] - 1].end, last.end)
    elif run[-1] + 1 < len(block.items):
        yield Splice(first.start, block.items[run[-1] + 1].start)
    else:
        yield Splice(first.start, last.end + has_comma(text, last))


def _leaves_blank_line(text: str, block: Block, run: Sequence[int]) -> bool:
    """Tell whether the blank line below a docstring stays for the next sibling, which has none above it."""
    if run[0] == 0 or block.items[run[0] - 1].key != DOCSTRING or run[-1] + 1 == len(block.items):
        return False
    following = block.items[run[-1] + 1]
    return blank_end(text, following.start) == following.start
