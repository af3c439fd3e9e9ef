"""Plans to take a generated worker out again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.debris import kept_files
from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.exceptions import ConflictError, TreeError
from headrace.tools.new_worker.formatting import formatted
from headrace.tools.new_worker.inventory import Inventory
from headrace.tools.new_worker.locks import lock_part
from headrace.tools.new_worker.manifest import MANIFEST_NAME, Manifest, hash_of, manifest_path
from headrace.tools.new_worker.plan import Plan
from headrace.tools.new_worker.rendering import render_worker, worker_edits
from headrace.tools.new_worker.tree import Tree
from headrace.tools.new_worker.worker_plan import request_for

_FORCE: Final = "keep what you need of it, and run this again with --force"


@dataclass(frozen=True, slots=True)
class PlannedRemoval:
    """A worker to take out.

    Attributes:
        manifest: What it was made from.
        plan: What it takes.
    """

    manifest: Manifest
    plan: Plan


def plan_removal(tree: Tree, worker_name: str, *, force: bool) -> PlannedRemoval:
    """Work out how a worker goes: pure but for reading the tree.

    A file that was edited since the worker was made, or added to its folder, is a conflict. What follows from the same
    arguments today is no edit: where a setting that all workers share has changed, `make env-example` has rewritten
    each worker's list of settings. What cannot be taken out of a shared file is a conflict even when forced.

    Args:
        tree: Where the worker is.
        worker_name: The worker; one that this program made.
        force: Take edited and added files out too.

    Raises:
        ConflictError: There is no such worker, or it was not generated.
        TreeError: The tree is none that the generator knows its way in.
    """
    manifest = _manifest(tree, worker_name)
    request = request_for(tree, manifest.arguments, manifest.metrics_port)
    draft = Draft(tree)
    for path, reason in _own_files(tree, manifest, formatted(tree, render_worker(request))):
        draft.remove(path)
        if reason and not force:
            draft.refuse(path, f"{path} {reason}: {_FORCE}.")
    for edit in worker_edits(request, tree):
        draft.edit(edit.path, edit.revert)
    return PlannedRemoval(manifest, draft.plan())


def _manifest(tree: Tree, worker_name: str) -> Manifest:
    if worker_name not in Inventory.of(tree).workers and not (tree.root / manifest_path(worker_name)).is_file():
        raise ConflictError(f"There is no worker {worker_name!r} below workers/.")
    manifest = Manifest.read(tree, worker_name)
    if manifest is None:
        raise ConflictError(
            f"workers/{worker_name} has no {MANIFEST_NAME}: it was not made by new-worker, so it is not taken out."
        )
    if manifest.arguments.worker_name != worker_name:
        made = manifest.arguments.worker_name
        raise ConflictError(
            f"{manifest_path(worker_name)} is that of the worker {made}: this folder was copied or renamed since,"
            " so it is taken out by hand."
        )
    return manifest


def _own_files(
    tree: Tree, manifest: Manifest, fresh: Mapping[PurePosixPath, str]
) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield each file that goes with the worker, and why somebody may want to keep it; empty when nobody would."""
    name = manifest.arguments.worker_name
    listed = {PurePosixPath(path): digest for path, digest in manifest.files.items()}
    for path, digest in listed.items():
        content = _content(tree, path)
        written = {digest, *([hash_of(fresh[path].encode())] if path in fresh else [])}
        yield path, "" if content is None or hash_of(content) in written else "was edited"
    unlisted = {manifest_path(name), lock_part(name)}
    yield from ((path, "") for path in unlisted)
    for file in kept_files(tree.root / "workers" / name):
        path = PurePosixPath(file.relative_to(tree.root))
        if path not in listed and path not in unlisted:
            yield path, "was added"


def _content(tree: Tree, path: PurePosixPath) -> bytes | None:
    try:
        return tree.read_bytes(path)
    except TreeError as error:
        raise ConflictError(f"{error} Take it away by hand.") from None
