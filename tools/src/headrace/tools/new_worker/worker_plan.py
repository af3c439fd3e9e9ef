"""Plans a new worker."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from headrace.tools.new_worker.draft import Draft
from headrace.tools.new_worker.exceptions import ConflictError
from headrace.tools.new_worker.formatting import formatted
from headrace.tools.new_worker.inventory import Inventory
from headrace.tools.new_worker.manifest import (
    GENERATOR_VERSION,
    Manifest,
    WorkerArguments,
    hash_of,
    manifest_path,
)
from headrace.tools.new_worker.names import check_kind, check_lane, check_worker_name
from headrace.tools.new_worker.namespace import namespace_plan
from headrace.tools.new_worker.plan import Plan
from headrace.tools.new_worker.ports import choose_port
from headrace.tools.new_worker.rendering import parse_payload, render_worker, worker_edits
from headrace.tools.new_worker.request import WorkerRequest
from headrace.tools.new_worker.tree import Tree


@dataclass(frozen=True, slots=True)
class PlannedWorker:
    """A worker to make.

    Attributes:
        request: What was asked for, judged.
        plan: What it takes.
    """

    request: WorkerRequest
    plan: Plan


def plan_worker(tree: Tree, arguments: WorkerArguments) -> PlannedWorker:
    """Work out a new worker: pure but for reading the tree.

    Args:
        tree: Where it goes; with uncommitted changes or without.
        arguments: What is asked for; may be what is there already.

    Raises:
        WrongNameError: A name will not do.
        ConflictError: The worker was made with other arguments.
        TreeError: The tree is none that the generator knows its way in.
        GeneratorError: The generator would write what does not parse.
    """
    request = judge(tree, arguments)
    draft = Draft(tree)
    seen = tree
    if not tree.has_work:
        creates, edits = namespace_plan(tree)
        for path, text in creates.items():
            draft.create(path, text)
        for edit in edits:
            draft.edit(edit.path, edit.apply)
        seen = tree.with_staged(draft.staged)
    files = formatted(tree, render_worker(request))
    for path, text in {**files, **_manifest_file(tree, arguments, request, files)}.items():
        draft.create(path, text)
    for edit in worker_edits(request, seen):
        draft.edit(edit.path, edit.apply)
    return PlannedWorker(request, draft.plan())


def judge(tree: Tree, arguments: WorkerArguments) -> WorkerRequest:
    """Return the request that the arguments make in a tree.

    Raises:
        WrongNameError: A name will not do.
        ConflictError: The worker is there, made with other arguments.
    """
    inventory = Inventory.of(tree)
    made = Manifest.read(tree, arguments.worker_name) if arguments.worker_name in inventory.workers else None
    check_worker_name(arguments.worker_name, inventory, is_generated=made is not None)
    check_kind(arguments.kind, arguments.worker_name, inventory)
    check_lane(arguments.lane)
    if made is not None and made.arguments != arguments:
        raise ConflictError(_differing(made.arguments, arguments))
    return request_for(tree, arguments, made.metrics_port if made else _free_port(arguments.worker_name, inventory))


def request_for(tree: Tree, arguments: WorkerArguments, metrics_port: int) -> WorkerRequest:
    """Return a request without judging its names.

    Raises:
        WrongNameError: A payload field is none.
    """
    return WorkerRequest(
        root_package=tree.root_package,
        worker_name=arguments.worker_name,
        kind=arguments.kind,
        metrics_port=metrics_port,
        lane=arguments.lane,
        container=arguments.container,
        payload=parse_payload(arguments.payload),
    )


def _free_port(worker_name: str, inventory: Inventory) -> int:
    return choose_port(worker_name, {port for name, port in inventory.ports.items() if name != worker_name})


def _differing(made: WorkerArguments, asked: WorkerArguments) -> str:
    before, now = made.model_dump(), asked.model_dump()
    told = ", ".join(
        f"{name} was {before[name]!r} and is {now[name]!r}" for name in before if before[name] != now[name]
    )
    return (
        f"The worker {made.worker_name} was made with other arguments ({told}): "
        f"take it out with `remove-worker {made.worker_name}` first, or change its files by hand."
    )


def _manifest_file(
    tree: Tree, arguments: WorkerArguments, request: WorkerRequest, files: Mapping[PurePosixPath, str]
) -> dict[PurePosixPath, str]:
    """Return the manifest; the one that is there stays, which tells what was written when the worker was made."""
    path = manifest_path(request.worker_name)
    made, text = Manifest.read(tree, request.worker_name), tree.read(path)
    if made is not None and text is not None and made.arguments == arguments:
        return {path: text}
    manifest = Manifest(
        generator_version=GENERATOR_VERSION,
        arguments=arguments,
        metrics_port=request.metrics_port,
        files={str(each): hash_of(files[each].encode()) for each in sorted(files)},
    )
    return {path: manifest.text()}
