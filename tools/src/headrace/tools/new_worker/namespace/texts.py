"""Lines of a text by offset, and a text with stretches of it replaced."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Splice:
    """A stretch of text and what is to be there instead."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Return the text with all splices made; those of the same place in the order given. None may overlap another."""
    pieces: list[str] = []
    done = 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        pieces += [text[done : splice.start], splice.text]
        done = splice.end
    return "".join([*pieces, text[done:]])


def line_start(text: str, offset: int) -> int:
    """Return where the line of an offset starts."""
    return text.rfind("\n", 0, offset) + 1


def next_line(text: str, offset: int) -> int:
    """Return where the line after an offset's starts; the end of the text behind the last one."""
    return text.find("\n", offset) + 1 or len(text)


def blank_end(text: str, offset: int) -> int:
    """Return where the blank lines end that start at an offset; the offset itself where none do."""
    while offset < len(text) and not text[offset : next_line(text, offset)].strip():
        offset = next_line(text, offset)
    return offset


def comments_start(text: str, offset: int) -> int:
    """Return where the comment directly above an offset's line starts; that line itself where there is none."""
    start = line_start(text, offset)
    while start and text[(above := line_start(text, start - 1)) : start].lstrip().startswith("#"):
        start = above
    return start


def margin_start(text: str, offset: int, floor: int) -> int:
    """Return where the blank lines and lines of comment start that stand above an offset's line, not before a floor."""
    start = line_start(text, offset)
    while start > floor and text[(above := line_start(text, start - 1)) : start].lstrip()[:1] in {"", "#"}:
        start = above
    return start
