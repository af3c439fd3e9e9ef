"""The kind's row in the table of kinds that the queue's README begins with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, EditOutcome

HEADER: Final = ("| kind | asks for |", "| --- | --- |")
_ROW: Final = re.compile(r"\| `(\w+)` \|")


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind's row.

    Attributes:
        kind: Its first cell; a row is told by it, whatever somebody made of the second.
        asks_for: Its second cell.
    """

    kind: str
    asks_for: str

    @property
    def line(self) -> str:
        """The row, without a line end."""
        return f"| `{self.kind}` | {self.asks_for} |"


def add_row(row: KindRow, text: str) -> EditOutcome:
    """Add the row in front of the first one whose kind sorts behind it."""
    lines = text.splitlines(keepends=True)
    tables = list(_tables(lines))
    if len(tables) != 1:
        return _lost(row, len(tables))
    (table,) = tables
    kinds = {at: _kind_of(lines[at]) for at in table}
    if row.kind in kinds.values():
        return AlreadyThere()
    at = next((place for place, kind in kinds.items() if (kind or "") > row.kind), table.stop)
    # The line end is the one of the line above, which ends in one where it is not the file's last.
    above = lines[at - 1]
    line_end = above[len(above.rstrip("\r\n")) :]
    if not line_end:
        return Cannot(f"The table of kinds ends the file, without a line end: add the row `{row.line}` to it.")
    return Done("".join((*lines[:at], row.line + line_end, *lines[at:])))


def remove_row(row: KindRow, text: str) -> EditOutcome:
    """Take the row out, whatever its second cell says by now."""
    lines = text.splitlines(keepends=True)
    tables = list(_tables(lines))
    if len(tables) != 1:
        return _lost(row, len(tables))
    gone = {at for at in tables[0] if _kind_of(lines[at]) == row.kind}
    if not gone:
        return AlreadyThere()
    return Done("".join(line for at, line in enumerate(lines) if at not in gone))


def _tables(lines: list[str]) -> Iterator[range]:
    """Yield where the rows of each table of kinds are."""
    stripped = [line.rstrip() for line in lines]
    for at in range(len(lines) - 1):
        if (stripped[at], stripped[at + 1]) == HEADER:
            rows = takewhile(lambda place: stripped[place].startswith("|"), range(at + 2, len(lines)))
            yield range(at + 2, at + 2 + len(list(rows)))


def _kind_of(line: str) -> str | None:
    found = _ROW.match(line)
    return None if found is None else found[1]


def _lost(row: KindRow, num_tables: int) -> Cannot:
    found = num_tables or "none"
    return Cannot(
        f"Expected one table that begins with `{HEADER[0]}` and found {found}: add the row `{row.line}` to it."
    )
