"""The edits of everything that the namespace shares with others: Python files, lists of names, the page of nouns."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.edits import Edit
from headrace.tools.new_worker.namespace.env_edits import env_edit, settings_of
from headrace.tools.new_worker.namespace.inventory import Inventory
from headrace.tools.new_worker.namespace.markdown_edits import item_linking_to, markdown_edit
from headrace.tools.new_worker.namespace.python_edits import Tidy, python_edit
from headrace.tools.new_worker.namespace.requirements import own_requirements
from headrace.tools.new_worker.namespace.slices import Slice
from headrace.tools.new_worker.namespace.source import Source, module_name
from headrace.tools.new_worker.namespace.toml_edits import entries_of, toml_edit

PROJECT: Final = PurePosixPath("pyproject.toml")
MEMBER: Final = PurePosixPath("om/pyproject.toml")
NOUNS: Final = PurePosixPath("om/README.md")
SETTINGS: Final = PurePosixPath(".env.example")

_OPTIONS: Final = ("tool", "arch-check", "options")
_PROJECT_TABLE: Final = ("project",)


def shared_edits(
    source: Source,
    inventory: Inventory,
    shares: Mapping[PurePosixPath, Slice],
    tidy: Callable[[PurePosixPath], Tidy],
) -> Iterator[Edit]:
    """Yield one edit for each shared file.

    Args:
        source: The tree that has the namespace.
        inventory: The namespace in it.
        shares: The shares of the Python files that are to be edited.
        tidy: Gives for each file what its text goes through afterwards.
    """
    for path, share in shares.items():
        yield python_edit(path, share, source.root_package, tidy(path))
    if entries := entries_of(_text(source, PROJECT), _OPTIONS, lambda name: _is_own(source, inventory, name)):
        yield toml_edit(PROJECT, entries)
    required = own_requirements(source, inventory)
    if entries := entries_of(_text(source, MEMBER), _PROJECT_TABLE, lambda name: name.lower() in required):
        yield toml_edit(MEMBER, entries)
    if settings := settings_of(_text(source, SETTINGS), frozenset(_variables(source, inventory))):
        yield env_edit(SETTINGS, settings)
    page = (source.om / "work" / "README.md").relative_to(NOUNS.parent)
    if item := item_linking_to(_text(source, NOUNS), str(page)):
        yield markdown_edit(NOUNS, item)


def _variables(source: Source, inventory: Inventory) -> Iterator[str]:
    """Yield the variables of the settings that processes have on the namespace's account."""
    for path, share in inventory.shared.items():
        if path.name == "settings.py":
            yield from (
                f"{source.renaming.new_settings}{part.key.upper()}" for part in share.parts if len(part.path) == 1
            )


def _is_own(source: Source, inventory: Inventory, name: str) -> bool:
    """Tell whether an option's entry names a module of the namespace, or a class of it with or without a method."""
    paths = [path for path in inventory.own if path.suffix == ".py" and source.om in path.parents]
    defined = re.compile(rf"^class {re.escape(name.partition('.')[0])}\b", re.MULTILINE)
    return name in map(module_name, paths) or any(defined.search(_text(source, path)) for path in paths)


def _text(source: Source, path: PurePosixPath) -> str:
    return source.read(path) or ""
