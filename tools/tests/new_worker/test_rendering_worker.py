"""What is rendered: the same shape as the workers that came with the tree, and clean whatever the names are."""

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from jinja2 import UndefinedError
from ruamel.yaml import YAML

from headrace.tools.env_example.render import render_own
from headrace.tools.new_worker.edits import Done
from headrace.tools.new_worker.formatting import formatted
from headrace.tools.new_worker.rendering import PayloadField, parse_payload, render_worker, worker_edits
from headrace.tools.new_worker.rendering.compose_edit import add_service, remove_service
from headrace.tools.new_worker.rendering.edits import FULL_COMPOSE
from headrace.tools.new_worker.rendering.field_types import FIELD_TYPES
from headrace.tools.new_worker.rendering.template_files import filled
from headrace.tools.new_worker.request import WorkerRequest
from headrace.tools.new_worker.tree import Tree
from headrace.tools.workers.reading import read_workers
from tools.tests.new_worker.trees import small_tree, write

if TYPE_CHECKING:
    from headrace.infra.settings import ProcessSettings

NOTE = parse_payload([])
EVERY_TYPE = tuple(
    PayloadField(f"field_{number}", name, is_optional=number % 2 == 0) for number, name in enumerate(FIELD_TYPES)
)
LONG = parse_payload([f"{'x' * 58}_{number}:str[]?" for number in range(3)])
NOTIFIER = WorkerRequest(
    root_package="headrace", worker_name="shipment-notifier", kind="NOTIFY_SHIPMENT", metrics_port=9300, payload=NOTE
)
MAINTENANCE = replace(NOTIFIER, worker_name="maintenance", kind="NOOP", lane="maintenance", metrics_port=9101)

ODD = (
    ("shipment-notifier", "NOTIFY_SHIPMENT", EVERY_TYPE),
    ("w" * 40, "K" * 50, LONG),
    ("-".join(["ab"] * 13), "_".join(["AB"] * 17), parse_payload(["id:uuid"])),
    ("x2", "A1", parse_payload(["type:str", "list:int[]", "object:bool"])),
    ("api", "API", parse_payload(["hash:decimal?"])),
    ("print-jobs", "PRINT", NOTE),
    ("int-sync", "INT", parse_payload(["sum:float"])),
    ("http2-json-2", "HTTP2_JSON_2", parse_payload(["at:datetime[]"])),
    ("any-item", "ITEM", parse_payload(["item:str", "ctx:str", "payload:str", "field:str", "wrong:str"])),
    ("work-loop", "STORAGE_INTERFACE", parse_payload(["uuid4:uuid", "result:date?"])),
)

each_odd = pytest.mark.parametrize(
    ("worker_name", "kind", "payload"), ODD, ids=[f"{worker_name} {kind}" for worker_name, kind, _ in ODD]
)

# The rest of the tree is not there, so an import sorter must be told whose it is.
OURS = 'lint.isort.known-first-party = ["headrace", "workers"]'


@pytest.fixture
def tree(pytestconfig: pytest.Config) -> Tree:
    return Tree.open(pytestconfig.rootpath)


def test_the_maintenance_worker_is_of_the_shape_that_is_rendered(tree: Tree) -> None:
    texts = formatted(tree, render_worker(MAINTENANCE))
    package = PurePosixPath("workers/maintenance/src/headrace/workers/maintenance")
    for name in ("settings.py", "loop.py", "process.py", "main.py", "healthcheck.py", "py.typed"):
        assert texts[package / name] == tree.read(package / name), name
    own = PurePosixPath("workers/maintenance/.env.example")
    assert texts[own] == tree.read(own)


def test_the_maintenance_workers_project_says_what_is_rendered(tree: Tree) -> None:
    path = PurePosixPath("workers/maintenance/pyproject.toml")
    rendered, ours = (tomllib.loads(text or "") for text in (render_worker(MAINTENANCE)[path], tree.read(path)))
    assert rendered["project"].pop("description") == "Headrace: the worker that handles NOOP."
    del ours["project"]["description"]
    assert rendered == ours


def test_the_workers_images_are_built_as_is_rendered(tree: Tree) -> None:
    kept = {file.stem for file in tree.root.glob("deployment/docker/*.Dockerfile")}
    for worker in (each for each in read_workers(tree.root) if each.name in kept):
        request = replace(NOTIFIER, worker_name=worker.name, metrics_port=worker.metrics_port)
        path = PurePosixPath(f"deployment/docker/{worker.name}.Dockerfile")
        assert render_worker(request)[path] == tree.read(path), path


def test_the_workers_services_are_as_is_rendered(tree: Tree) -> None:
    text = tree.read(FULL_COMPOSE) or "services: {}"
    contained = set(YAML(typ="safe", pure=True).load(text)["services"])
    for worker in (each for each in read_workers(tree.root) if each.name in contained):
        without = remove_service(worker.name, worker.metrics_port, text)
        assert isinstance(without, Done), without
        assert add_service(worker.name, worker.metrics_port, without.text) == Done(text)


def test_the_settings_file_is_what_the_rendered_settings_class_gives() -> None:
    texts = render_worker(NOTIFIER)
    module = ModuleType("rendered_settings")
    source = texts[PurePosixPath("workers/shipment-notifier/src/headrace/workers/shipment_notifier/settings.py")]
    exec(compile(source, "settings.py", "exec"), module.__dict__)  # noqa: S102 - what the generator itself wrote
    settings: type[ProcessSettings] = module.__dict__["ShipmentNotifierSettings"]
    assert texts[PurePosixPath("workers/shipment-notifier/.env.example")] == render_own("shipment-notifier", settings)


@each_odd
def test_what_is_rendered_is_clean_and_in_form_whatever_the_names_are(
    tree: Tree, tmp_path: Path, worker_name: str, kind: str, payload: tuple[PayloadField, ...]
) -> None:
    request = replace(NOTIFIER, worker_name=worker_name, kind=kind, payload=payload)
    write(tmp_path, "pyproject.toml", tree.read(PurePosixPath("pyproject.toml")) or "")
    for path, text in formatted(tree, render_worker(request)).items():
        write(tmp_path, str(path), text)
    for command in (["check", "--config", OURS], ["format", "--check"]):
        argv = [str(Path(sys.executable).with_name("ruff")), *command, "--no-cache", "."]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=50)  # noqa: S603 - fixed
        assert done.returncode == 0, done.stdout + done.stderr


@each_odd
def test_nothing_is_left_to_do_in_what_is_rendered(
    worker_name: str, kind: str, payload: tuple[PayloadField, ...]
) -> None:
    request = replace(NOTIFIER, worker_name=worker_name, kind=kind, payload=payload)
    for path, text in render_worker(request).items():
        assert not any(word in text for word in ("{{", "{%", "WORKER_NAME", "KIND_MODULE")), path
        assert not any(word in str(path) for word in ("ROOT", "WORKER", "KIND_MODULE", ".jinja")), path
        assert text.endswith("\n") or path.name == "py.typed", path


def test_a_worker_adds_its_line_to_the_kinds_and_the_readme_and_no_more(tree: Tree) -> None:
    work = PurePosixPath("om/src/headrace/om/work")
    assert [edit.path for edit in worker_edits(NOTIFIER, tree)] == [work / "types/kinds.py", work / "README.md"]


def test_a_worker_with_a_container_is_added_to_the_full_compose_file_too(tree: Tree) -> None:
    edits = worker_edits(replace(NOTIFIER, container=True), tree)
    assert edits[-1].path == FULL_COMPOSE


def test_files_and_edits_are_of_the_trees_own_root_package(tmp_path: Path) -> None:
    request = replace(NOTIFIER, root_package="acme_works")
    texts = render_worker(request)
    assert not any(
        "headrace" in str(path) or "headrace" in text.lower()
        for path, text in texts.items()
        if path.name != ".env.example"
    )
    acme = small_tree(tmp_path)
    assert worker_edits(replace(NOTIFIER, root_package="acme"), acme)[0].path.is_relative_to("om/src/acme")


def test_a_word_that_a_template_has_and_nobody_gives_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="nobody"):
        filled("{{ nobody }}", {})
