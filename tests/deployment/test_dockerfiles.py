import json
import re
from pathlib import Path

import pytest

from headrace.tools.workers import WorkerDeclaration, read_images, read_workers
from tests.deployment.repository import DEPLOYMENT, ROOT, run

DOCKERFILES = DEPLOYMENT / "docker"
WORKERS = read_workers(ROOT)
PROGRAMS = [image.name for image in read_images(ROOT)]


def dockerfile(name: str) -> str:
    return (DOCKERFILES / f"{name}.Dockerfile").read_text(encoding="utf-8")


def instructions(name: str) -> dict[str, str]:
    """The final stage's instructions, the last of each."""
    stage = re.sub(r"\\\n\s*", "", dockerfile(name)).rpartition("\nFROM ")[2]
    lines = (line.partition(" ") for line in stage.splitlines() if line and not line.startswith("#"))
    return {word: rest for word, _, rest in lines}


def hadolint(text: str, tmp_path: Path) -> str:
    file = tmp_path / "Dockerfile"
    file.write_text(text, encoding="utf-8")
    done = run("hadolint", "--no-color", file)
    assert done.returncode == bool(done.stdout)
    return done.stdout


def test_every_program_has_a_dockerfile_and_no_other_has() -> None:
    assert sorted(file.name for file in DOCKERFILES.iterdir()) == [f"{name}.Dockerfile" for name in PROGRAMS]


@pytest.mark.parametrize("worker", WORKERS, ids=lambda worker: worker.name)
def test_workers_differ_in_one_line(worker: WorkerDeclaration) -> None:
    one = "ARG WORKER=maintenance METRICS_PORT=9101"
    other = f"ARG WORKER={worker.name} METRICS_PORT={worker.metrics_port}"
    assert dockerfile(worker.name) == dockerfile("maintenance").replace(one, other)


@pytest.mark.parametrize("name", PROGRAMS)
def test_hadolint_finds_nothing(name: str, tmp_path: Path) -> None:
    assert hadolint(dockerfile(name), tmp_path) == ""


def test_hadolint_finds_what_is_planted(tmp_path: Path) -> None:
    assert "DL3004" in hadolint(dockerfile("console").replace("WORKDIR /\n", "RUN sudo true\n"), tmp_path)
    assert "DL3025" in hadolint(dockerfile("maintenance").replace('["serve"]', "serve"), tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_itself_is_the_first_process_and_runs_as_nobody(name: str) -> None:
    told = instructions(name)
    assert told["USER"] == "65532:65532"
    assert told["STOPSIGNAL"] == "SIGTERM"
    assert len(json.loads(told["ENTRYPOINT"])) == 1


@pytest.mark.parametrize("worker", WORKERS, ids=lambda worker: worker.name)
def test_a_worker_is_probed_by_itself_without_a_shell(worker: WorkerDeclaration) -> None:
    told = instructions(worker.name)
    program = json.loads(told["ENTRYPOINT"])
    assert json.loads(told["HEALTHCHECK"].partition(" CMD ")[2]) == [*program, "healthcheck"]
    assert told["EXPOSE"] == "${METRICS_PORT}"


def test_an_image_sees_sources_and_locks_only() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    assert {"**/tests", "**/.*"} <= set(ignored)
