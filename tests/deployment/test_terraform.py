"""The configuration under Terraform and the AWS provider themselves, with the cloud mocked.

Where the provider is not on the machine, test_terraform_configuration.py stands alone; `make test` says which ran.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from headrace.tools.terraform_inputs.assembling import assemble
from headrace.tools.workers import read_images
from tests.deployment.grown_tree import WORKER, grown_inputs
from tests.deployment.provider_schema import TERRAFORM, kept, trimmed
from tests.deployment.repository import ROOT
from tests.deployment.terraform_runs import (
    ENVIRONMENTS,
    Plan,
    copied,
    initialised,
    plans,
    secret_arn,
    secrets_of,
    terraform,
)

pytestmark = [pytest.mark.processes, pytest.mark.terraform, pytest.mark.timeout(600)]

INPUTS = assemble(read_images(ROOT), None)
PROGRAMS = {**INPUTS.workers, "migrate": INPUTS.migration}
AUTHORITIES = "/etc/ssl/certs/database.pem"
TESTED = ("modules/task", "modules/service", "modules/platform", "environments/staging", "environments/production")


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the whole configuration; each part that a test runs is initialised there."""
    return copied(tmp_path_factory.mktemp("terraform") / "terraform")


@pytest.fixture(scope="module")
def planned(configuration: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Plan]:
    """Plans of staging: as it is, with the generator's worker, with scaling, paused, and verifying the database."""
    grown = grown_inputs(tmp_path_factory.mktemp("grown"))
    runs: dict[str, dict[str, Any]] = {
        "base": {},
        "another": {"workers": grown["workers"], "migration": grown["migration"]},
        "scaled": {"autoscaling_enabled": True},
        "paused": {"paused": True},
        "verifying": {"database_authorities": AUTHORITIES},
    }
    return plans(initialised(configuration / "environments" / "staging"), runs, secrets_of(INPUTS))


@pytest.fixture
def base(planned: Mapping[str, Plan]) -> Plan:
    """The plan of staging as it is."""
    return planned["base"]


def test_the_configuration_is_formatted() -> None:
    done = terraform(TERRAFORM, "fmt", "-check", "-recursive")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("part", TESTED)
def test_a_part_passes_its_own_tests(configuration: Path, part: str) -> None:
    # Running them validates the part, with every module below it.
    done = terraform(initialised(configuration / part), "test", "-no-color")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Success! [1-9]\d* passed, 0 failed", done.stdout)


@pytest.mark.parametrize("worker", INPUTS.workers)
class TestEachWorker:
    def test_its_program_is_contained(self, base: Plan, worker: str) -> None:
        program = base.program(worker)
        assert program["user"] == "65532:65532"
        assert program["readonlyRootFilesystem"] is True
        assert program["linuxParameters"] == {"initProcessEnabled": True, "capabilities": {"drop": ["ALL"]}}

    def test_it_is_run_by_digest_under_its_own_name(self, base: Plan, worker: str) -> None:
        program = base.program(worker)
        assert re.fullmatch(rf".*/headrace/{INPUTS.workers[worker].image.name}@sha256:[0-9a-f]{{64}}", program["image"])
        assert program["entryPoint"] == list(INPUTS.workers[worker].entrypoint)

    def test_the_platform_waits_longer_than_it_drains(self, base: Plan, worker: str) -> None:
        program = base.program(worker)
        assert program["stopTimeout"] > INPUTS.workers[worker].drain_seconds
        assert variables(program)["HEADRACE_STOP_WINDOW"] == f"{program['stopTimeout']}s"

    def test_it_is_probed_by_its_own_subcommand(self, base: Plan, worker: str) -> None:
        assert base.program(worker)["healthCheck"]["command"] == list(INPUTS.workers[worker].health_check)

    def test_its_service_has_no_route_and_one_owner_of_its_count(self, base: Plan, worker: str) -> None:
        (service,) = [
            each for address, each in base.of("aws_ecs_service").items() if f'module.service["{worker}"]' in address
        ]
        assert service["load_balancer"] == []
        assert (service["desired_count"], service["deployment_maximum_percent"]) == (1, 100)

    def test_its_lines_go_after_a_time(self, base: Plan, worker: str) -> None:
        group = base.one(f'module.service["{worker}"]', "aws_cloudwatch_log_group")
        assert group["name"] == f"/headrace/staging/{worker}"
        assert group["retention_in_days"] == 30

    def test_nobody_is_let_in(self, base: Plan, worker: str) -> None:
        rules = [address for address in base.after if f'module.service["{worker}"]' in address and "ingress" in address]
        assert rules == []

    def test_a_missing_task_is_told(self, base: Plan, worker: str) -> None:
        alarm = base.one(f'module.service["{worker}"]', "running_below_desired")
        assert len(alarm["alarm_actions"]) == 1

    def test_scaling_is_behind_the_switch(self, planned: Mapping[str, Plan], worker: str) -> None:
        mine = f'module.service["{worker}"]'
        assert not [address for address in planned["base"].after if mine in address and "autoscaling_policy" in address]
        assert planned["scaled"].one(mine, "aws_appautoscaling_policy")["policy_type"] == "TargetTrackingScaling"

    def test_the_switch_changes_the_bounds_and_nothing_of_the_service(
        self, planned: Mapping[str, Plan], worker: str
    ) -> None:
        mine = f'module.service["{worker}"]'
        services = [planned[name].one(mine, "aws_ecs_service") for name in ("base", "scaled")]
        # Where a new service begins; from then on Terraform passes the count by, as the module's own tests show.
        assert [{**service, "desired_count": None} for service in services] == [
            {**services[0], "desired_count": None}
        ] * 2
        assert bounds(planned["base"], mine) == {("1", "1")}
        assert bounds(planned["scaled"], mine) == {("1", "2")}

    def test_it_can_be_paused(self, planned: Mapping[str, Plan], worker: str) -> None:
        mine = f'module.service["{worker}"]'
        assert planned["paused"].one(mine, "aws_ecs_service")["desired_count"] == 0
        assert bounds(planned["paused"], mine) == {("0", "0")}


def bounds(plan: Plan, where: str) -> set[tuple[str, str]]:
    """Between which numbers of tasks a worker's service is held, by each of the two that say so."""
    target = plan.one(where, "aws_appautoscaling_target")
    (action,) = plan.one(where, "aws_appautoscaling_scheduled_action")["scalable_target_action"]
    return {(str(each["min_capacity"]), str(each["max_capacity"])) for each in (target, action)}


def variables(program: Mapping[str, Any]) -> dict[str, str]:
    """A container's plain variables."""
    return {each["name"]: each["value"] for each in program["environment"]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_setting_without_a_default_reaches_the_task_definition(base: Plan, name: str) -> None:
    program = base.program(name)
    assert missing_settings(name, program) == set()
    told = {each["name"]: each["valueFrom"] for each in program["secrets"]}
    assert all(told[variable] == secret_arn(setting) for variable, setting in PROGRAMS[name].secrets.items())


def missing_settings(name: str, program: Mapping[str, Any]) -> set[str]:
    """Return the settings that a program cannot start without and is not told."""
    return {*PROGRAMS[name].required_variables, *PROGRAMS[name].secrets} - names(program)


def names(program: Mapping[str, Any]) -> set[str]:
    """Every variable that a container is told, plain or secret."""
    return {each["name"] for each in [*program["environment"], *program["secrets"]]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_talks_to_the_database_in_the_clear(planned: Mapping[str, Plan], name: str) -> None:
    assert variables(planned["base"].program(name))["PGSSLMODE"] == "require"
    told = variables(planned["verifying"].program(name))
    assert (told["PGSSLMODE"], told["PGSSLROOTCERT"]) == ("verify-full", AUTHORITIES)


def test_no_secret_is_among_the_plain_variables(base: Plan) -> None:
    secret = {name for program in PROGRAMS.values() for name in (*program.secrets, *program.optional_secrets)}
    for name in PROGRAMS:
        assert variables(base.program(name)).keys() & secret == set()


def test_every_plain_variable_is_one_that_the_program_knows(base: Plan) -> None:
    for name, program in PROGRAMS.items():
        told = {each for each in variables(base.program(name)) if each.startswith("HEADRACE_")}
        shared = {"HEADRACE_STOP_WINDOW"} if name == "migrate" else set()
        assert told <= {*program.settings, *program.required_variables} | shared


def test_the_generators_worker_adds_its_own_resources_and_changes_no_other(planned: Mapping[str, Plan]) -> None:
    before, after = planned["base"].after, planned["another"].after
    added = after.keys() - before.keys()
    assert all(f'"{WORKER}"' in address or f'"headrace-{WORKER}"' in address for address in added)
    # As many of each type as any worker has, and its image's repository with its two policies.
    assert Counter(map(kind_of, added)) == Counter(
        kind_of(address) for address in before if '"maintenance"' in address or '"headrace-maintenance"' in address
    )
    assert planned["another"].program(WORKER)["entryPoint"] == [f"headrace-{WORKER}"]
    assert {address: after[address] for address in before} == dict(before)


def kind_of(address: str) -> str:
    """The type of the resource at an address."""
    kinds = re.findall(r"\.(aws_[a-z_]+)\.", address)
    return str(kinds[-1])


def test_what_the_queue_says_is_listened_to(base: Plan) -> None:
    names = {alarm["alarm_name"] for alarm in base.of("aws_cloudwatch_metric_alarm").values()}
    expected = {f"headrace-staging-{name}" for name in ("oldest-waiting", "outbox-lag", "dead-letters")}
    assert expected <= names


def test_servers_are_encrypted_private_backed_up_and_reached_over_tls_only(base: Plan) -> None:
    database = base.one("module.database.", "aws_db_instance")
    assert (database["storage_encrypted"], database["publicly_accessible"]) == (True, False)
    assert database["backup_retention_period"] >= 7
    forced = base.one("module.database.", "aws_db_parameter_group")["parameter"]
    assert ("rds.force_ssl", "1") in {(each["name"], each["value"]) for each in forced}
    cache = base.one("aws_elasticache_replication_group")
    assert (cache["transit_encryption_mode"], cache["at_rest_encryption_enabled"]) == ("required", "true")


class TestPlants:
    """Each fault, planted, turns a run red."""

    @pytest.fixture
    def planted(self, configuration: Path, tmp_path: Path) -> Path:
        for name in ("service", "platform"):
            initialised(configuration / "modules" / name)
        target = tmp_path / "terraform"
        shutil.copytree(configuration / "modules", target / "modules", symlinks=True)
        shutil.copytree(configuration / "mocks", target / "mocks")
        return target / "modules" / "service"

    def plant(self, file: Path, old: str, new: str) -> None:
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    @pytest.mark.parametrize(
        ("file", "old", "new", "found"),
        [
            ("alarms.tf", "alarm_name ", "alarm_named ", "Unsupported argument"),
            ("alarms.tf", "  evaluation_periods  = 5\n", "", "Missing required argument"),
        ],
    )
    def test_the_provider_refuses_a_misspelt_or_missing_argument(
        self, planted: Path, file: str, old: str, new: str, found: str
    ) -> None:
        self.plant(planted / file, old, new)
        done = terraform(planted, "validate", "-no-color")
        assert done.returncode != 0
        assert found in done.stderr

    def test_a_rollout_above_100_percent_turns_a_test_red(self, planted: Path) -> None:
        self.plant(planted / "main.tf", "deployment_maximum_percent         = 100", "deployment_maximum_percent = 200")
        done = terraform(planted, "test", "-no-color")
        assert "Expected a rollout between 0 and 100 percent" in done.stdout + done.stderr

    @pytest.mark.parametrize(
        ("file", "old", "new", "lost"),
        [
            ("platform/workers.tf", ", lookup(var.settings, each.key, {}))", ")", "HEADRACE_SHIPMENT_NOTIFIER_CARRIER"),
            ("platform/workers.tf", "= local.secrets[each.key]", "= {}", "HEADRACE_DATABASE_URL"),
            ("task/main.tf", "for name in sort(keys(var.secrets)) :", "for name in [] :", "HEADRACE_DATABASE_URL"),
            ("task/main.tf", "for name in sort(keys(var.environment)) :", "for name in [] :", "HEADRACE_SHIPMENT"),
        ],
    )
    def test_a_setting_that_reaches_no_task_definition_is_refused(
        self, planted: Path, file: str, old: str, new: str, lost: str
    ) -> None:
        self.plant(planted.parent / file, old, new)
        done = terraform(planted.parent / "platform", "test", "-no-color")
        assert re.search(rf"shipment-notifier cannot start: it is\s+not\s+told[\s\S]*{lost}", done.stdout + done.stderr)


def test_the_kept_schema_is_the_providers(configuration: Path) -> None:
    done = terraform(initialised(configuration / "modules" / "platform"), "providers", "schema", "-json")
    assert trimmed(json.loads(done.stdout)) == kept()


def test_both_environments_are_tested() -> None:
    assert {f"environments/{name}" for name in ENVIRONMENTS} <= set(TESTED)
