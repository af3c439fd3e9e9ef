import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.deployment.repository import ROOT, run

FOLDER = ROOT / ".github" / "workflows"
DEPLOYING = sorted(FOLDER.glob("deploy-*.yml"))


def actionlint(file: Path) -> str:
    done = run("actionlint", file)
    assert bool(done.returncode) == bool(done.stdout)
    return done.stdout


def zizmor(file: Path) -> str:
    done = run("zizmor", "--offline", "--no-progress", file)
    return done.stdout if done.returncode else ""


def jobs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(FOLDER / name)["jobs"]
    return found


def commands(name: str) -> str:
    return "\n".join(step.get("run", "") for job in jobs(name).values() for step in job["steps"])


@pytest.mark.parametrize("file", DEPLOYING, ids=lambda file: file.name)
def test_the_linters_find_nothing(file: Path) -> None:
    assert actionlint(file) == ""
    assert zizmor(file) == ""
    assert run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", file).returncode == 0


def test_the_linters_find_what_is_planted(tmp_path: Path) -> None:
    text = (FOLDER / "deploy-staging.yml").read_text(encoding="utf-8")
    planted = tmp_path / "planted.yml"
    planted.write_text(text.replace("needs: images", "needs: imagse"), encoding="utf-8")
    assert "imagse" in actionlint(planted)
    planted.write_text(
        re.sub(r"actions/checkout@[0-9a-f]{40} # v[0-9.]+", "actions/checkout@v7", text), encoding="utf-8"
    )
    assert "unpinned-uses" in zizmor(planted)


@pytest.mark.parametrize("file", DEPLOYING, ids=lambda file: file.name)
def test_every_action_is_pinned_by_commit(file: Path) -> None:
    used = re.findall(r"uses: (\S+)", file.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action) for action in used)


@pytest.mark.parametrize("file", DEPLOYING, ids=lambda file: file.name)
def test_no_job_may_more_than_read_and_sign_in(file: Path) -> None:
    for job in jobs(file.name).values():
        assert job["permissions"].items() <= {"contents": "read", "id-token": "write"}.items()


def test_staging_takes_its_images_from_the_projects() -> None:
    assert "headrace.tools.workers --json" in commands("deploy-staging.yml")


def test_production_builds_nothing() -> None:
    assert "docker" not in commands("deploy-production.yml").replace("dockerfile", "")
    assert "release.tfplan" in commands("deploy-production.yml")
