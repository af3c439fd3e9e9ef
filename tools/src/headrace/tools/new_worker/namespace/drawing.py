"""Draws the outline of a Python text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import libcst as cst

from headrace.tools.new_worker.namespace.docstrings import docstring_blocks
from headrace.tools.new_worker.namespace.naming import element_key, statement_key
from headrace.tools.new_worker.namespace.outline import (
    IMPORTS,
    PARAMETERS,
    Block,
    BlockKind,
    ImportLine,
    Item,
    Outline,
    Path,
    collapsed,
)
from headrace.tools.new_worker.namespace.spans import Spans
from headrace.tools.new_worker.namespace.syntax import (
    Definition,
    bodies_of,
    inner,
    is_text,
    parameters_of,
    statements_of,
)
from headrace.tools.new_worker.namespace.texts import comments_start, next_line


@lru_cache(maxsize=256)
def outline_of(text: str) -> Outline:
    """Read a text.

    Raises:
        libcst.ParserSyntaxError: It is no Python.
    """
    module = cst.parse_module(text)
    drawing = _Drawing(Spans(text, module))
    blocks: dict[Path, tuple[Block, ...]] = {}
    for block in drawing.body((), module.body):
        blocks[block.path] = (*blocks.get(block.path, ()), block)
    return Outline(text, module, blocks, tuple(drawing.imports(module.body)))


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The blocks of one text."""

    spans: Spans

    def body(self, path: Path, statements: Sequence[cst.BaseStatement]) -> Iterator[Block]:
        """Yield the block of a body, and every block within."""
        if not statements:
            return
        items = self._distinct(tuple(self._statements(statements)))
        yield Block(path, BlockKind.STATEMENTS, items, items[0].start)
        for item in items:
            yield from self._within((*path, item.key), item.node)

    def imports(self, statements: Sequence[cst.BaseStatement]) -> Iterator[ImportLine]:
        """Yield the imports of a body."""
        for node in statements:
            match node:
                case cst.SimpleStatementLine(body=[cst.Import() | cst.ImportFrom() as small]):
                    yield self._import(node, small)
                case _:
                    pass

    def _import(self, line: cst.SimpleStatementLine, node: cst.Import | cst.ImportFrom) -> ImportLine:
        aliases = () if isinstance(node.names, cst.ImportStar) else node.names
        is_from = isinstance(node, cst.ImportFrom)
        module = self.spans.code(node.module) if isinstance(node, cst.ImportFrom) and node.module else ""
        names = self._row((IMPORTS, module), node, aliases)
        start, end = self.spans.of(line)
        return ImportLine(
            module=module if is_from else names.items[0].key.partition(" ")[0],
            is_from=is_from,
            names=names,
            start=comments_start(self.spans.text, start),
            end=next_line(self.spans.text, end),
        )

    def _within(self, path: Path, node: cst.CSTNode | None) -> Iterator[Block]:
        match node:
            case cst.FunctionDef() | cst.ClassDef():
                yield from self._definition(path, node)
            case cst.SimpleStatementLine():
                yield from self._expressions(path, node)
            case cst.BaseCompoundStatement():
                for label, statements in bodies_of(node):
                    yield from self.body((*path, label), statements)
            case _:
                return

    def _definition(self, path: Path, node: Definition) -> Iterator[Block]:
        if isinstance(node, cst.FunctionDef):
            yield self._row((*path, PARAMETERS), node.params, parameters_of(node.params))
        statements = statements_of(node.body)
        if statements and is_text(statements[0]):
            yield from docstring_blocks(path, self.spans.lines_within(statements[0]))
        yield from self.body(path, statements)

    def _expressions(self, path: Path, node: cst.CSTNode) -> Iterator[Block]:
        """Yield the calls and literals in a statement, each below the one that it stands in."""
        match node:
            case cst.Call():
                yield from self._expressions(path, node.func)
                yield from self._nested((*path, f"{self.spans.code(node.func)}()"), node, node.args)
            case cst.List():
                yield from self._nested((*path, "[]"), node, node.elements)
            case cst.Dict() | cst.Set():
                yield from self._nested((*path, "{}"), node, node.elements)
            case _:
                for child in inner(node):
                    yield from self._expressions(path, child)

    def _nested(self, path: Path, node: cst.CSTNode, members: Sequence[cst.CSTNode]) -> Iterator[Block]:
        yield self._row(path, node, members)
        for child in members:
            yield from self._expressions(path, child)

    def _row(self, path: Path, node: cst.CSTNode, members: Sequence[cst.CSTNode]) -> Block:
        items = tuple(Item(element_key(self.spans, each), *self.spans.of(each), each) for each in members)
        start = items[0].start if items else self.spans.of(node)[1] - 1
        return Block(path, BlockKind.ELEMENTS, items, start, node)

    def _statements(self, statements: Sequence[cst.BaseStatement]) -> Iterator[Item]:
        """Yield items: a text below a statement belongs to it, and imports in a row are one."""
        held: Item | None = None
        for node in statements:
            key = statement_key(self.spans, node, is_first=held is None)
            start, end = self.spans.whole_lines(node, held.end if held else 0)
            if held and (is_text(node) or key == held.key == IMPORTS):
                held = replace(held, end=end)
                continue
            if held:
                yield held
            held = Item(key, start, end, node)
        if held:
            yield held

    def _distinct(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Call items by their whole code that share a name with a sibling."""
        counts = Counter(item.key for item in items)
        return tuple(
            item if counts[item.key] == 1 else replace(item, key=collapsed(self.spans.text[item.start : item.end]))
            for item in items
        )
