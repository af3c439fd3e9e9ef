"""An edit of lists of names in a TOML file: their layout and comments stay."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, Array

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, Edit, EditOutcome
from headrace.tools.new_worker.namespace.grafting import pruned, slot_behind
from headrace.tools.new_worker.namespace.outline import Block, BlockKind, Item, Path
from headrace.tools.new_worker.namespace.parts import MisfitError, Part, framed
from headrace.tools.new_worker.namespace.texts import Splice, spliced

_TOKEN: Final = re.compile(r"""#[^\n]*|"((?:[^"\\]|\\.)*)"|'([^'\n]*)'""")

type Change = Callable[[str, Block, Part], Sequence[Splice]]


def entries_of(text: str, below: Path, is_wanted: Callable[[str], bool]) -> tuple[Part, ...]:
    """Return the wanted strings of all lists below a table, in order."""
    table = _at(tomlkit.parse(text), below)
    return tuple(_wanted(table, below, is_wanted)) if isinstance(table, AbstractTable) else ()


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
    try:
        document = tomlkit.parse(text)
        for entry in entries:
            _change_list(document, entry, change)
    except TOMLKitError as error:
        return Cannot(f"{path} is no valid TOML: {error}.")
    except MisfitError as misfit:
        return Cannot(f"{path}: {misfit}. Give the list that form, or make this change by hand.")
    changed = tomlkit.dumps(document)
    return Done(changed) if changed != text else AlreadyThere()


def _change_list(document: tomlkit.TOMLDocument, entry: Part, change: Change) -> None:
    *tables, key = entry.path
    table, array = _at(document, tuple(tables)), _at(document, entry.path)
    if not (isinstance(table, AbstractTable) and isinstance(array, Array)):
        raise MisfitError(f"it has no list {entry.place}, where `{entry.key}` belongs")
    text = array.as_string()
    if splices := change(text, _block_of(entry.path, text), entry):
        table[key] = tomlkit.parse(f"list = {spliced(text, splices)}")["list"]


def _at(document: tomlkit.TOMLDocument, path: Path) -> object:
    found: object = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _wanted(table: AbstractTable, path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Part]:
    for key, value in table.items():
        if isinstance(value, AbstractTable):
            yield from _wanted(value, (*path, key), is_wanted)
        elif isinstance(value, Array):
            text = value.as_string()
            block = _block_of((*path, key), text)
            yield from (framed(text, block, item) for item in block.items if is_wanted(item.key))


def _block_of(path: Path, text: str) -> Block:
    """Return the strings of a list."""
    tokens = [match for match in _TOKEN.finditer(text) if not match[0].startswith("#")]
    items = tuple(Item(match[1] or match[2] or "", match.start(), match.end(), None) for match in tokens)
    return Block(path, BlockKind.ELEMENTS, items, items[0].start if items else len(text) - 1)
