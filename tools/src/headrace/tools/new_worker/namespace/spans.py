"""Where each piece of a Python text's syntax is in the text."""

import re

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from headrace.tools.new_worker.namespace.outline import collapsed
from headrace.tools.new_worker.namespace.texts import margin_start, next_line


class Spans:
    """The places of the nodes of one module, as offsets into its text."""

    def __init__(self, text: str, module: cst.Module) -> None:
        self.text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return where a node starts and ends, without what stands around it."""
        position = self._positions[node]
        start = self._lines[position.start.line - 1] + position.start.column
        if isinstance(node, cst.Param):  # its own position is its name's
            last = node.default or (node.annotation.annotation if node.annotation else node.name)
            return start, self.of(last)[1]
        return start, self._lines[position.end.line - 1] + position.end.column

    def code(self, node: cst.CSTNode) -> str:
        """Return a node's text on one line."""
        start, end = self.of(node)
        return collapsed(self.text[start:end])

    def lines_within(self, node: cst.CSTNode) -> list[tuple[int, str]]:
        """Return the lines that start within a node, each with its offset."""
        start, end = self.of(node)
        return [(line, self.text[line : next_line(self.text, line)]) for line in self._lines if start < line < end]

    def whole_lines(self, node: cst.BaseStatement, floor: int) -> tuple[int, int]:
        """Return where the lines of a statement start and end, with the blank lines, comments and decorators above it.

        Args:
            node: The statement.
            floor: Where the statement before it ends.
        """
        decorators = node.decorators if isinstance(node, cst.FunctionDef | cst.ClassDef) else ()
        first, _ = self.of(decorators[0].decorator if decorators else node)
        return margin_start(self.text, first, floor), next_line(self.text, self.of(node)[1])
