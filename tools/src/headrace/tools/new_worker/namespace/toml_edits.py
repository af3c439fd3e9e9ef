"""An edit of names in a TOML file: strings of lists, and keys of tables of strings; layout and comments stay."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final, TypeGuard

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, Array, InlineTable

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, Edit, EditOutcome
from headrace.tools.new_worker.namespace.grafting import pruned, slot_behind
from headrace.tools.new_worker.namespace.outline import Block, BlockKind, Item, Path
from headrace.tools.new_worker.namespace.parts import MisfitError, Part, framed
from headrace.tools.new_worker.namespace.texts import Splice, spliced

_TEXT: Final = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_ELEMENT: Final = re.compile(rf"#[^\n]*|(?P<name>{_TEXT})")
_PAIR: Final = re.compile(rf"(?P<name>{_TEXT}|[\w-]+)[ \t]*=[ \t]*{_TEXT}")
_LINE: Final = re.compile(rf"(?:^[ \t]*#.*\n)*^[ \t]*{_PAIR.pattern}[ \t]*(?:#.*)?(?:\n|\Z)", re.MULTILINE)
_REQUIREMENT: Final = re.compile(r"(?P<distribution>[A-Za-z0-9][\w.-]*)[ ]*(?:\[[^]]*\])?[ ]*[<>=!~;@]")
_HEADER: Final = re.compile(r"^[ \t]*\[.*\n", re.MULTILINE)

type Change = Callable[[str, Block, Part], Sequence[Splice]]


def entries_of(text: str, below: Path, is_wanted: Callable[[str], bool]) -> tuple[Part, ...]:
    """Return the wanted strings of all lists, and the wanted keys of all tables, below a table, in order."""
    table = _at(tomlkit.parse(text), below)
    return tuple(_wanted(text, table, below, is_wanted)) if isinstance(table, AbstractTable) else ()


def toml_edit(path: PurePosixPath, entries: Sequence[Part]) -> Edit:
    """Return the edit that puts strings into their lists, each behind the one that it follows, or takes them out."""
    return Edit(
        path, lambda text: _outcome(path, text, entries, _put), lambda text: _outcome(path, text, entries, _take)
    )


def _put(text: str, block: Block, entry: Part) -> Sequence[Splice]:
    return () if block.named(entry.key) else (slot_behind(text, block, entry).splice(entry),)


def _take(text: str, block: Block, entry: Part) -> Sequence[Splice]:
    return tuple(pruned(text, block, {entry.key}))


def _outcome(path: PurePosixPath, text: str, entries: Sequence[Part], change: Change) -> EditOutcome:
    changed = text
    try:
        for entry in entries:
            changed = _changed(changed, entry, change)
    except TOMLKitError as error:
        return Cannot(f"{path} is no valid TOML: {error}.")
    except MisfitError as misfit:
        return Cannot(f"{path}: {misfit}. Give it that form, or make this change by hand.")
    return Done(changed) if changed != text else AlreadyThere()


def _changed(text: str, entry: Part, change: Change) -> str:
    *tables, key = entry.path
    document = tomlkit.parse(text)
    table, value = _at(document, tuple(tables)), _at(document, entry.path)
    if entry.kind is BlockKind.STATEMENTS and isinstance(value, AbstractTable) and not isinstance(value, InlineTable):
        return spliced(text, change(text, _lines_of(entry.path, text), entry))
    if entry.kind is BlockKind.STATEMENTS or not (isinstance(table, AbstractTable) and _is_inline(value)):
        raise MisfitError(f"it has no {_form(entry)} {entry.place}, where `{entry.key}` belongs")
    within = value.as_string()
    if splices := change(within, _block_of(entry.path, within), entry):
        table[key] = tomlkit.parse(f"value = {spliced(within, splices)}")["value"]
    return tomlkit.dumps(document)


def _form(entry: Part) -> str:
    if entry.kind is BlockKind.STATEMENTS:
        return "table with a header"
    return "list" if _PAIR.fullmatch(entry.code) is None else "table in braces"


def _is_inline(value: object) -> TypeGuard[Array | InlineTable]:
    return isinstance(value, Array | InlineTable)


def _at(document: tomlkit.TOMLDocument, path: Path) -> object:
    found: object = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _wanted(text: str, table: AbstractTable, path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Part]:
    lines = _lines_of(path, text)
    yield from (framed(text, lines, item) for item in lines.items if is_wanted(item.key))
    for key, value in table.items():
        below = (*path, key)
        if _is_inline(value):
            within = value.as_string()
            block = _block_of(below, within)
            yield from (framed(within, block, item) for item in block.items if is_wanted(item.key))
        elif isinstance(value, AbstractTable):
            yield from _wanted(text, value, below, is_wanted)


def _block_of(path: Path, text: str) -> Block:
    """Return the strings of a list, or the keys of a table in braces."""
    tokens = [match for match in (_PAIR if text.startswith("{") else _ELEMENT).finditer(text) if match["name"]]
    items = tuple(Item(_name(match), match.start(), match.end(), None) for match in tokens)
    # What was the only one leaves the blanks on both sides of it.
    middle = len(text) // 2 if not text[1:-1].strip() else len(text) - 1
    return Block(path, BlockKind.ELEMENTS, items, items[0].start if items else middle)


def _lines_of(path: Path, text: str) -> Block:
    """Return the keys of a table with a header, each with its line and the comment above it."""
    headers = list(_HEADER.finditer(text))
    start = next((match.end() for match in headers if _is_header(match[0], path)), len(text))
    end = next((match.start() for match in headers if match.start() >= start), len(text))
    items = tuple(Item(_name(match), match.start(), match.end(), None) for match in _LINE.finditer(text, start, end))
    return Block(path, BlockKind.STATEMENTS, items, start)


def _is_header(line: str, path: Path) -> bool:
    """Tell whether a line is the header of the table of a path."""
    try:
        document = tomlkit.parse(line)
    except TOMLKitError:
        return False
    return isinstance(found := _at(document, path), AbstractTable) and not found


def _name(match: re.Match[str]) -> str:
    """Return what an entry is called: a requirement after its distribution, whichever versions it allows."""
    name = match["name"].strip("\"'")
    required = _REQUIREMENT.match(name)
    return required["distribution"] if required else name
