"""Plans the work namespace for a tree that has none: the files that it is, and the edits of those that it shares."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.edits import Edit
from headrace.tools.new_worker.formatting import formatted
from headrace.tools.new_worker.namespace.inventory import inventory_of
from headrace.tools.new_worker.namespace.obstacles import foreign_revisions, missing_prerequisites
from headrace.tools.new_worker.namespace.python_edits import Tidy
from headrace.tools.new_worker.namespace.shared_edits import shared_edits
from headrace.tools.new_worker.namespace.source import Source, find_source
from headrace.tools.new_worker.tree import Tree

_RELAY_TEST: Final = "test_outbox_relay.py"


def namespace_plan(target: Tree, source: Tree | None = None) -> tuple[Mapping[PurePosixPath, str], tuple[Edit, ...]]:
    """Work out what gives a tree the work namespace.

    Pure but for reading. The namespace is that of the tree that the generator belongs to, file for file, under the
    target's root package and database logins; the edits of shared files are read off that tree's own shared files.

    Args:
        target: The tree that lacks the namespace; one that has it needs nothing of what is returned.
        source: The tree that has it; the generator's own when None.

    Returns:
        The files to create with their texts, and the edits. What the namespace builds on and the target lacks, or what
        the target has and would not go with it, is among the edits as one that cannot be made.

    Raises:
        TreeError: The generator's own tree lacks the namespace too.
    """
    words = Source.of(source or find_source(), target)
    inventory = inventory_of(words)
    whole = {path for path, share in inventory.shared.items() if share.is_all and target.read(path) is None}
    creates = {path: words.read(path) or "" for path in sorted({*inventory.own, *whole})}
    if words.renaming.is_needed:
        creates = formatted(target, creates)
    shares = {path: share for path, share in inventory.shared.items() if path not in whole and _has_place(target, path)}
    edits = [
        *shared_edits(words, inventory, shares, lambda path: _tidy(words, target, path)),
        *missing_prerequisites(target, creates, inventory.shared),
        *foreign_revisions(target, creates),
    ]
    return creates, tuple(edits)


def _has_place(target: Tree, path: PurePosixPath) -> bool:
    """Tell whether a file is to be edited: a test of something else that the target does not have is not missed."""
    return "tests" not in path.parts or path.name == _RELAY_TEST or target.read(path) is not None


def _tidy(words: Source, target: Tree, path: PurePosixPath) -> Tidy:
    def tidy(before: str, after: str) -> str:
        """Format what was formatted before; the source's own text is formatted already."""
        is_formatted = after != words.read(path) and formatted(target, {path: before})[path] == before
        return formatted(target, {path: after})[path] if is_formatted else after

    return tidy
