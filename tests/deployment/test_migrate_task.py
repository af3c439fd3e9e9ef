"""`scripts/migrate-task.sh` alone: which commands it gives, in which order, and how it ends.

`aws` and `terraform` are stand-ins that answer with fixed texts. Nothing here shows what AWS makes of the commands.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.repository import ROOT, run

# The script needs jq, as the promotion does.
pytestmark = [pytest.mark.processes, pytest.mark.registry]

RELEASED = f"registry/headrace-console@sha256:{'1' * 64}"
REGISTERED = f"registry/headrace-console@sha256:{'0' * 64}"
TASK_DEFINITION = "arn:aws:ecs:eu-central-1:111111111111:task-definition/headrace-staging-migrate"
MIGRATION = {
    "task_definition": f"{TASK_DEFINITION}:7",
    "subnets": ["subnet-1", "subnet-2"],
    "security_groups": ["sg-1"],
}
PLAN = {
    "resource_changes": [
        {
            "address": "module.platform.module.migration.aws_ecs_task_definition.this",
            "change": {"after": {"container_definitions": json.dumps([{"name": "program", "image": RELEASED}])}},
        }
    ]
}
DEFINITION = {
    "family": "headrace-staging-migrate",
    "revision": 7,
    "networkMode": "awsvpc",
    "cpu": "256",
    "memory": "512",
    "executionRoleArn": "arn:start",
    "taskRoleArn": "arn:run",
    "runtimePlatform": {"cpuArchitecture": "X86_64"},
    "volumes": [{"name": "tmp"}],
    "requiresCompatibilities": ["FARGATE"],
    "containerDefinitions": [{"name": "program", "image": REGISTERED, "command": ["migrate"]}],
}
STAND_IN = f"""#!{sys.executable} -SE
# Keeps its arguments, one call a line, and answers with the file whose name is among them.
import json, os, pathlib, sys

told = " ".join(sys.argv[1:])
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + chr(10))
if os.environ["FAILS"] in told:
    sys.exit(254)
print(next((each.read_text() for each in pathlib.Path(os.environ["ANSWERS"]).iterdir() if each.name in told), ""))
"""


@dataclass(frozen=True)
class Run:
    """How the script ended.

    Attributes:
        exit_code: Its exit code.
        complaint: What it said on standard error.
        calls: The arguments of each call of a stand-in, in order.
    """

    exit_code: int
    complaint: str
    calls: list[list[str]]

    def call(self, *words: str) -> list[str]:
        """Return the one call that begins with these words."""
        (found,) = [call for call in self.calls if call[: len(words)] == list(words)]
        return found

    def given(self, option: str, *words: str) -> str:
        """Return what a call gave for an option."""
        call = self.call(*words)
        return call[call.index(option) + 1]


def migrated(folder: Path, *, code: str = "0", fails: str = "never") -> Run:
    """Run the script over stand-ins.

    Args:
        folder: An empty folder.
        code: The exit code that the task's container ended with.
        fails: Words of the command that shall fail.
    """
    programs, answers, calls = folder / "bin", folder / "answers", folder / "calls"
    answers.mkdir()
    for words, answer in answers_of(code).items():
        (answers / words).write_text(answer, encoding="utf-8")
    programs.mkdir()
    for name in ("aws", "terraform"):
        (programs / name).write_text(STAND_IN, encoding="utf-8")
        (programs / name).chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(calls),
        "ANSWERS": str(answers),
        "FAILS": fails,
    }
    done = run(ROOT / "scripts" / "migrate-task.sh", "staging", environment=environment)
    return Run(done.returncode, done.stderr, [json.loads(line) for line in calls.read_text("utf-8").splitlines()])


def answers_of(code: str) -> dict[str, Any]:
    """What each command answers, by words of it."""
    return {
        "output -json migration": json.dumps(MIGRATION),
        "output -raw cluster_name": "headrace-staging",
        "show -json release.tfplan": json.dumps(PLAN),
        "ecs describe-task-definition": json.dumps(DEFINITION),
        "ecs register-task-definition": f"{TASK_DEFINITION}:8",
        "ecs run-task": "arn:aws:ecs:eu-central-1:111111111111:task/headrace-staging/1",
        "ecs describe-tasks": code,
        "logs tail": "what the migration wrote",
    }


def test_the_release_is_registered_run_and_waited_for_in_this_order(tmp_path: Path) -> None:
    done = migrated(tmp_path)
    assert (done.exit_code, done.complaint) == (0, "")
    assert [call[1] for call in done.calls if call[0] == "ecs"] == [
        "describe-task-definition",
        "register-task-definition",
        "run-task",
        "wait",
        "describe-tasks",
    ]
    assert done.given("--task-definition", "ecs", "describe-task-definition") == "headrace-staging-migrate"


def test_what_is_registered_is_the_present_revision_with_the_planned_image(tmp_path: Path) -> None:
    told = json.loads(migrated(tmp_path).given("--cli-input-json", "ecs", "register-task-definition"))
    expected = {name: value for name, value in DEFINITION.items() if name != "revision"}
    assert told == {
        **expected,
        "containerDefinitions": [{"name": "program", "image": RELEASED, "command": ["migrate"]}],
    }


def test_the_new_revision_is_run_in_the_private_network_once(tmp_path: Path) -> None:
    done = migrated(tmp_path)
    assert done.given("--task-definition", "ecs", "run-task").endswith("headrace-staging-migrate:8")
    network = json.loads(done.given("--network-configuration", "ecs", "run-task"))
    assert network == {"awsvpcConfiguration": {"subnets": MIGRATION["subnets"], "securityGroups": ["sg-1"]}}


def test_it_fails_and_shows_the_lines_when_the_migration_fails(tmp_path: Path) -> None:
    done = migrated(tmp_path, code="3")
    assert done.exit_code == 1
    assert "the migration ended with 3" in done.complaint
    assert "what the migration wrote" in done.complaint
    assert done.call("logs", "tail")[2] == "/headrace/staging/migrate"


@pytest.mark.parametrize("code", ["None", ""])
def test_it_fails_when_the_task_never_ran(tmp_path: Path, code: str) -> None:
    done = migrated(tmp_path, code=code)
    assert done.exit_code == 1
    assert "the migration did not start" in done.complaint


@pytest.mark.parametrize(
    "words", ["output -json migration", "describe-task-definition", "register-task-definition", "run-task", "ecs wait"]
)
def test_it_stops_at_the_command_that_fails(tmp_path: Path, words: str) -> None:
    done = migrated(tmp_path, fails=words)
    assert done.exit_code != 0
    assert words in " ".join(done.calls[-1])
