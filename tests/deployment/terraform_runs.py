"""Runs of Terraform without a cloud: a copy of the configuration, a mocked provider, and plans as data."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

from headrace.tools.terraform_inputs.__main__ import unbuilt_text
from headrace.tools.terraform_inputs.document import TerraformInputs
from tests.deployment.provider_schema import TERRAFORM
from tests.deployment.repository import ROOT, run

SCRIPT: Final = ROOT / "scripts" / "terraform.sh"
ENVIRONMENTS: Final = ("staging", "production")
ACCOUNT: Final = "111111111111"
COLLECTOR: Final = f"public.ecr.aws/aws-observability/aws-otel-collector@sha256:{'2' * 64}"

GIVEN: Final[Mapping[str, Any]] = {
    "region": "eu-central-1",
    "account_id": ACCOUNT,
    "production_account_id": "222222222222",
    "release": "0123456789abcdef0123456789abcdef01234567",
    "availability_zones": ["eu-central-1a", "eu-central-1b"],
    "alarm_emails": ["on-call@example.com"],
    "collector_image": COLLECTOR,
}


def terraform(folder: Path, *arguments: str) -> CompletedProcess[str]:
    """Run Terraform in a folder."""
    return run(SCRIPT, *arguments, folder=folder, environment=os.environ)


def copied(target: Path) -> Path:
    """Return a copy of the whole configuration, with the inputs of this tree in each environment."""
    # A provider may lie in a module's state, half a gigabyte of it.
    shutil.copytree(TERRAFORM, target, ignore=shutil.ignore_patterns(".terraform*", "*.auto.tfvars.json"))
    for name in ENVIRONMENTS:
        (target / "environments" / name / "workers.auto.tfvars.json").write_text(unbuilt_text(ROOT), encoding="utf-8")
    return target


def initialised(folder: Path) -> Path:
    """Initialise one module or environment; return its folder."""
    done = terraform(folder, "init")
    assert done.returncode == 0, done.stderr
    return folder


@dataclass(frozen=True)
class Plan:
    """What a plan would make.

    Attributes:
        after: Every resource's address with its arguments as they would be; those that nobody can know are left out.
    """

    after: Mapping[str, Mapping[str, Any]]

    def of(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Return the resources of a type, by address."""
        return {address: values for address, values in self.after.items() if f".{kind}." in address}

    def one(self, *parts: str) -> Mapping[str, Any]:
        """Return the one resource whose address has all of these parts."""
        (found,) = [values for address, values in self.after.items() if all(part in address for part in parts)]
        return found

    def program(self, worker: str) -> Mapping[str, Any]:
        """Return the container that runs a worker's program, or `migrate`."""
        where = "module.migration." if worker == "migrate" else f'module.service["{worker}"].'
        definition = self.one(where, "aws_ecs_task_definition")
        container: Mapping[str, Any] = json.loads(definition["container_definitions"])[0]
        return container


def plans(environment: Path, runs: Mapping[str, Mapping[str, Any]], secrets: set[str]) -> dict[str, Plan]:
    """Plan an environment once for each set of variables; nothing is asked of a cloud.

    Args:
        environment: Its folder, initialised.
        runs: Variables on top of `GIVEN` and the inputs, by a name for each plan.
        secrets: The settings that are secrets, whose ARNs the plans shall tell apart.

    Returns:
        The plans, by name.
    """
    folder = environment / "plans"
    folder.mkdir(exist_ok=True)
    # One file each, since the plan of a run starts from the state of those before it in its file.
    for name, variables in runs.items():
        (folder / f"{name}.tftest.json").write_text(json.dumps(_test_file(variables, secrets)), encoding="utf-8")
    done = terraform(environment, "test", "-json", "-verbose", "-test-directory=plans")
    shutil.rmtree(folder)
    assert done.returncode == 0, "\n".join(_failures(done.stdout)) + done.stderr
    return {Path(found["@testfile"]).name.partition(".")[0]: _plan(found) for found in _told(done.stdout, "test_plan")}


def _test_file(variables: Mapping[str, Any], secrets: set[str]) -> dict[str, Any]:
    return {
        "mock_provider": {"aws": {"source": "../../mocks"}},
        "override_resource": [
            {
                "target": f'module.platform.aws_secretsmanager_secret.this["{name}"]',
                "override_during": "plan",
                # Whatever is not given here would be another text in each plan.
                "values": {"arn": secret_arn(name), "id": secret_arn(name), "name_prefix": "", "policy": ""},
            }
            for name in sorted(secrets)
        ],
        "variables": {**GIVEN, **variables},
        "run": {"plan": {"command": "plan"}},
    }


def secrets_of(inputs: TerraformInputs) -> set[str]:
    """Return the settings that an environment of these inputs keeps as secrets."""
    programs = (*inputs.workers.values(), inputs.migration)
    return {name for program in programs for name in program.secrets.values()} | {"redis_url"}


def secret_arn(setting: str) -> str:
    """Return the ARN that plans give to the secret of a setting."""
    return f"arn:aws:secretsmanager:eu-central-1:{ACCOUNT}:secret:{setting}"


def _plan(told: Mapping[str, Any]) -> Plan:
    changes = told["test_plan"]["resource_changes"]
    return Plan({change["address"]: change["change"]["after"] for change in changes})


def _told(output: str, kind: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        if f'"type":"{kind}"' in line:
            yield json.loads(line)


def _failures(output: str) -> list[str]:
    return [f"{each['@message']}: {each['diagnostic'].get('detail')}" for each in _told(output, "diagnostic")]
