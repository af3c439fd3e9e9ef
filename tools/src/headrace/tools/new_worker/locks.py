"""The files that resolving the dependencies may rewrite, so that a change that fails can put them back."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.tree import Tree

_PART_NAME: Final = "lock.toml"
_WHOLE: Final = (PurePosixPath("uv.lock"), PurePosixPath("nix/uv.lock"))


def lock_part(worker_name: str) -> PurePosixPath:
    """Return where the part of the lock is that belongs to one worker."""
    return PurePosixPath("workers", worker_name, _PART_NAME)


def lock_files(tree: Tree, worker_name: str) -> Iterator[PurePosixPath]:
    """Yield every file of the lock, the part of a worker to come among them; some may not exist."""
    yield from _WHOLE
    folders = {file.parent.name for file in tree.root.glob("workers/*/pyproject.toml")}
    yield from (lock_part(name) for name in sorted({*folders, worker_name}))


def has_lock(tree: Tree) -> bool:
    """Tell whether the tree keeps a lock at all."""
    return any((tree.root / path).is_file() for path in _WHOLE)
