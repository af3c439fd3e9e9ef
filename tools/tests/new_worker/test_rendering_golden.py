"""The golden trees: what the generator writes, kept to be read in review; `make golden` writes them anew."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from shutil import rmtree

import pytest

from headrace.tools.new_worker.formatting import formatted
from headrace.tools.new_worker.rendering import parse_payload, render_worker
from headrace.tools.new_worker.request import WorkerRequest
from headrace.tools.new_worker.tree import Tree

GOLDEN = Path(__file__).parent / "golden"
IS_REFRESHING = os.environ.get("HEADRACE_REFRESH_GOLDEN") == "1"

# The settings that all workers share are most of this one, and none of the generator's; it has a test of its own.
LEFT_OUT = ".env.example"

REQUESTS = (
    WorkerRequest(
        root_package="headrace",
        worker_name="shipment-notifier",
        kind="NOTIFY_SHIPMENT",
        metrics_port=9300,
        payload=parse_payload(["order_id:uuid", "carrier:str", "weight:decimal", "note:str?"]),
    ),
    WorkerRequest(
        root_package="acme_works",
        worker_name="x2",
        kind="HTTP2_PING",
        metrics_port=9301,
        lane="bulk.slow",
        payload=parse_payload(
            ["id:int", "ratio:float?", "is_new:bool", "day:date", "at:datetime[]", "names:str[]?", "parts:uuid[]"]
        ),
    ),
    WorkerRequest(
        root_package="headrace", worker_name="plain", kind="PLAIN", metrics_port=9302, payload=parse_payload([])
    ),
)

each_request = pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.worker_name)


def rendered(request: WorkerRequest, root: Path) -> Mapping[PurePosixPath, str]:
    tree = replace(Tree.open(root), root_package=request.root_package)
    texts = {path: text for path, text in render_worker(request).items() if path.name != LEFT_OUT}
    return formatted(tree, texts)


def kept(folder: Path) -> Mapping[PurePosixPath, str]:
    files = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {PurePosixPath(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in files}


def write(folder: Path, texts: Mapping[PurePosixPath, str]) -> None:
    rmtree(folder, ignore_errors=True)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@each_request
def test_the_worker_is_as_its_golden_tree_shows_it(request_: WorkerRequest, pytestconfig: pytest.Config) -> None:
    texts = rendered(request_, pytestconfig.rootpath)
    folder = GOLDEN / request_.worker_name
    if IS_REFRESHING:
        write(folder, texts)
    golden = kept(folder)
    assert sorted(golden) == sorted(texts), "files came or went: see what changed with `make golden`"
    for path, text in texts.items():
        assert golden[path] == text, f"{path} changed: see how with `make golden`"


def test_there_is_no_golden_tree_of_something_else() -> None:
    assert {folder.name for folder in GOLDEN.iterdir()} == {request.worker_name for request in REQUESTS}
