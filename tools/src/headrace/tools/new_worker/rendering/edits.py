"""What a new worker adds to files that it shares with others."""

from functools import partial
from pathlib import PurePosixPath
from typing import Final

from headrace.tools.new_worker.edits import Edit
from headrace.tools.new_worker.rendering.compose_edit import add_service, remove_service
from headrace.tools.new_worker.rendering.kinds_edit import add_kind, remove_kind
from headrace.tools.new_worker.rendering.readme_edit import KindRow, add_row, remove_row
from headrace.tools.new_worker.request import WorkerRequest
from headrace.tools.new_worker.tree import Tree

FULL_COMPOSE: Final = PurePosixPath("deployment/local/docker-compose.full.yml")


def worker_edits(request: WorkerRequest, tree: Tree) -> tuple[Edit, ...]:
    """Return the edits, in the order of their files; each is another line or block, put where its name sorts.

    Args:
        request: The worker.
        tree: Where its object model is.
    """
    kinds = tree.om / "work" / "types" / "kinds.py"
    readme = tree.om / "work" / "README.md"
    row = KindRow(request.kind, f"the work of the worker `{request.worker_name}`")
    shared = (
        Edit(kinds, partial(add_kind, request.kind), partial(remove_kind, request.kind)),
        Edit(readme, partial(add_row, row), partial(remove_row, row)),
    )
    if not request.container:
        return shared
    service = (request.worker_name, request.metrics_port)
    return (*shared, Edit(FULL_COMPOSE, partial(add_service, *service), partial(remove_service, *service)))
