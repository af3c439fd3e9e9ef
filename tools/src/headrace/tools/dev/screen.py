"""The terminal of a run, or whatever its output goes to."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.workers.console.cli.text import visible, visible_lines


class Screen:
    """Writes for a person; what a terminal would act on is written out.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, line: str, style: str = "") -> None:
        """Write a line; while a live table is shown, above it."""
        self.console.print(Text(visible_lines(line), style), soft_wrap=True)

    def list(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write names and values under each other."""
        broad = max(len(name) for name, _ in pairs)
        for name, value in pairs:
            self.say(f"  {name:<{broad}}  {value}")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], style: str) -> None:
        """Write a table."""
        table = Table(*columns, box=None, header_style=style, padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        self.console.print(table)
