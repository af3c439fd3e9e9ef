"""What commands answer with: one JSON document, or tables and fields for people, on standard output."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from headrace.workers.console.cli.text import visible, visible_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDE: Final = 4096
"""The width where nobody reads at a terminal: a line stays a line."""

GAP: Final = 2
MIN_LAST_COLUMN: Final = 16
_STYLES: Final = {
    "done": "green",
    "current": "green",
    "enabled": "green",
    "claimed": "cyan",
    "pending": "yellow",
    "cancelled": "yellow",
    "failed": "red",
    "disabled": "red",
    "newer": "red",
}


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and values, one under the other; the values may have several lines."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table; where it does not fit the terminal, each row becomes fields."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str = "none"
    """What is said instead of a table without rows."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence; it stays one line, whatever a name in it holds."""

    text: str


type Block = Fields | Rows | Line


def answer(document: Mapping[str, Any], *blocks: Block, as_json: bool) -> None:
    """Write the answer: the document as JSON, or the blocks for people.

    Raises:
        ReaderGone: Whoever reads has stopped reading.
        OSError: Standard output takes nothing more.
    """
    write(json_text(document) if as_json else _rendered(blocks))


def json_text(document: Mapping[str, Any]) -> str:
    """Return the document as JSON in ASCII, which every terminal, pipe and encoding passes on unharmed."""
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


class ReaderGone(Exception):  # noqa: N818 - an event, not a fault
    """Whoever reads standard output has stopped reading; nothing more needs to be said."""


def write(text: str) -> None:
    """Write to standard output at once, so that a closed pipe is noticed here and not at the process's end.

    Raises:
        ReaderGone: It is closed.
        OSError: It takes nothing more.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None


@contextmanager
def progress(what: str) -> "Iterator[Progress]":
    """Show how far long work is, on standard error and only at a terminal; it is gone afterwards."""
    from rich.console import Console  # noqa: PLC0415 - start-up stays fast
    from rich.progress import Progress as Bars  # noqa: PLC0415 - start-up stays fast

    bars = Bars(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    with bars:
        bar = bars.add_task(what, total=None)
        yield Progress(lambda text, done, total: bars.update(bar, description=text, completed=done, total=total))


@dataclass(frozen=True, slots=True)
class Progress:
    """A progress bar."""

    move: "Any"
    """Takes what is being done, how many steps are done, and of how many."""


def _rendered(blocks: Sequence[Block]) -> str:
    from rich.text import Text  # noqa: PLC0415 - start-up stays fast

    console = _console()
    with console.capture() as capture:
        for position, block in enumerate(blocks):
            if position:
                console.print()
            for part in _parts(block, console.width):
                console.print(part, soft_wrap=isinstance(part, Text))
    # A table pads its last column, which would wrap a line in a terminal that has become narrower.
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415 - start-up stays fast

    # Where no terminal is and no width is set, nothing is cut: the reader is a program, such as grep.
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit() else WIDE
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def _parts(block: Block, width: int) -> "Iterator[Table | Text]":
    if isinstance(block, Line):
        yield _text(visible(block.text))
    elif isinstance(block, Fields):
        yield from _field_lines(block.pairs)
    elif not block.rows:
        yield _text(block.empty)
    else:
        yield from _table(block, width)


def _table(block: Rows, width: int) -> "Iterator[Table | Text]":
    from rich.table import Table  # noqa: PLC0415 - start-up stays fast

    shown = [[visible(cell) for cell in row] for row in block.rows]
    if not _fits(block.columns, shown, width):
        for position, row in enumerate(shown):
            if position:
                yield _text("")
            yield from _field_lines(list(zip(block.columns, row, strict=True)))
        return
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    *fixed, last = block.columns
    for column in fixed:
        table.add_column(column, no_wrap=True)
    table.add_column(last, overflow="fold")
    for row in shown:
        table.add_row(*(_text(cell, _STYLES.get(cell, "")) for cell in row))
    yield table


def _fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    from rich.cells import cell_len  # noqa: PLC0415 - start-up stays fast

    widths = [max(map(cell_len, cells)) for cells in zip(columns, *rows, strict=True)]
    return sum(each + GAP for each in widths[:-1]) + min(widths[-1], MIN_LAST_COLUMN) <= width


def _field_lines(pairs: Sequence[tuple[str, str]]) -> "Iterator[Table | Text]":
    broad = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        first, *rest = visible_lines(value).split("\n")
        yield _text(f"{name:<{broad}}  ", "bold") + _text(first, _STYLES.get(first, ""))
        for line in rest:
            yield _text(" " * (broad + GAP) + line)


def _text(text: str, style: str = "") -> "Text":
    from rich.text import Text  # noqa: PLC0415 - start-up stays fast

    return Text(text, style=style)
