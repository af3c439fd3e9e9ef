"""Takes the work namespace out of a tree: the way back of the plan, for trying the plan out."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from headrace.tools.new_worker.debris import sweep_empty
from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Done, Edit
from headrace.tools.new_worker.exceptions import ConflictError
from headrace.tools.new_worker.formatting import formatted
from headrace.tools.new_worker.namespace.inventory import inventory_of
from headrace.tools.new_worker.namespace.shared_edits import shared_edits
from headrace.tools.new_worker.namespace.source import Source
from headrace.tools.new_worker.tree import Tree


def strip_namespace(tree: Tree, *, is_formatted: bool = False) -> None:
    """Delete the namespace's files and revert its edits, on disk.

    Whatever builds on the namespace, other namespaces and workers, stays as it is and has nothing to build on then.

    Args:
        tree: A tree that has the namespace; it is written to.
        is_formatted: Whether the shared files are formatted afterwards, as a developer's would be.

    Raises:
        ConflictError: The namespace's share of a file cannot be taken out; nothing was.
    """
    source = Source.of(tree, tree)
    inventory = inventory_of(source)
    shares = {path: share for path, share in inventory.shared.items() if not share.is_all}
    edits = shared_edits(source, inventory, shares, lambda _: lambda __, text: text)
    texts = dict(text for edit in edits for text in _reverted(tree, edit))
    for path, text in (formatted(tree, texts) if is_formatted else texts).items():
        (tree.root / path).write_text(text, encoding="utf-8")
    for path in {*inventory.own, *(inventory.shared.keys() - shares.keys())}:
        (tree.root / path).unlink()
        for folder in path.parents:
            sweep_empty(tree.root / folder)


def _reverted(tree: Tree, edit: Edit) -> Iterator[tuple[PurePosixPath, str]]:
    match edit.revert(tree.read(edit.path) or ""):
        case Done(text=text):
            yield edit.path, text
        case Cannot(help=sentence):
            raise ConflictError(sentence)
        case AlreadyThere():
            return
