"""What a developer does after a run; the generator does none of it, since it is theirs to decide."""

import shlex

from headrace.tools.new_worker.manifest import Manifest
from headrace.tools.new_worker.rendering import sample_json
from headrace.tools.new_worker.request import WorkerRequest


def after_making(request: WorkerRequest) -> tuple[str, ...]:
    """Return the next steps with a new worker."""
    payload = shlex.quote(sample_json(request.payload))
    lane = "" if request.lane == "default" else f" --lane {request.lane}"
    source = f"workers/{request.worker_name}/src/{request.root_package}/workers/{request.worker}"
    return (
        f"write what it does in {source}/handler.py, and say in workers/{request.worker_name}/README.md what that is",
        "start it beside the others: make run",
        f"enqueue an item: .venv/bin/headrace work enqueue {request.kind}{lane} --payload {payload}",
        f"see what became of it: .venv/bin/headrace work list --kind {request.kind}",
        f"take it out again while nothing is edited: make remove-worker ARGS={request.worker_name}",
        "commit: this program never does",
    )


def after_removing(manifest: Manifest) -> tuple[str, ...]:
    """Return the next steps without a worker."""
    return (
        f"settle what is queued of {manifest.arguments.kind} before this is deployed: no worker will take it then",
        "commit: this program never does",
    )
