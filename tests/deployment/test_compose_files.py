from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from headrace.tools.terraform_inputs.assembling import assemble
from headrace.tools.workers import WorkerDeclaration, read_images, read_workers
from tests.deployment.repository import DEPLOYMENT, ROOT, run

FOLDER = DEPLOYMENT / "local"
FILES = ("docker-compose.yml", "docker-compose.full.yml")
INPUTS = assemble(read_images(ROOT), None)


def services(name: str) -> dict[str, Any]:
    document = YAML(typ="safe").load(FOLDER / name)
    found: dict[str, Any] = document["services"]
    return found


CONTAINED = [worker for worker in read_workers(ROOT) if worker.name in services("docker-compose.full.yml")]


def problems(file: Path) -> str:
    done = run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", file)
    assert done.returncode in {0, 1}
    return done.stdout if done.returncode else ""


@pytest.mark.parametrize("name", FILES)
def test_compose_files_are_what_compose_expects(name: str) -> None:
    assert problems(FOLDER / name) == ""


def test_a_misspelt_key_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "docker-compose.yml"
    text = (FOLDER / FILES[0]).read_text(encoding="utf-8")
    planted.write_text(text.replace("healthcheck:", "healthchek:"), encoding="utf-8")
    assert "healthchek" in problems(planted)


@pytest.mark.parametrize("name", FILES)
def test_every_port_is_bound_to_the_loopback_interface(name: str) -> None:
    ports = [port for service in services(name).values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_servers_say_when_they_are_healthy() -> None:
    assert all("healthcheck" in service for service in services(FILES[0]).values())


def test_the_workers_of_the_main_job_are_contained() -> None:
    assert {"maintenance", "webhook-dispatcher"} <= {worker.name for worker in CONTAINED}


@pytest.mark.parametrize("worker", CONTAINED, ids=lambda worker: worker.name)
def test_a_workers_block_follows_from_its_declaration(worker: WorkerDeclaration) -> None:
    block = services(FILES[1])[worker.name]
    assert block["build"] == {"context": "../..", "dockerfile": f"deployment/docker/{worker.name}.Dockerfile"}
    assert block["ports"] == [f"127.0.0.1::{worker.metrics_port}"]
    assert block["stop_grace_period"] == f"{INPUTS.workers[worker.name].stop_timeout_seconds}s"
    assert (block["read_only"], block["cap_drop"]) == (True, ["ALL"])


@pytest.mark.parametrize("worker", CONTAINED, ids=lambda worker: worker.name)
def test_a_worker_is_told_every_secret_that_it_cannot_start_without(worker: WorkerDeclaration) -> None:
    told = services(FILES[1])[worker.name]["environment"]
    needed = INPUTS.workers[worker.name]
    assert {*needed.secrets, *needed.required_variables} <= told.keys()


def test_the_schemas_are_up_to_date_before_a_worker_starts() -> None:
    full = services(FILES[1])
    assert INPUTS.migration.secrets.keys() <= full["migrate"]["environment"].keys()
    assert full["migrate"]["depends_on"]["logins"] == {"condition": "service_completed_successfully"}
    assert full["maintenance"]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
