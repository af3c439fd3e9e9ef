"""What can be said of the Terraform configuration without Terraform; runs everywhere, within seconds."""

import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from headrace.om.work.types.kinds import WorkKind
from headrace.workers.kit.metrics import WorkerMetrics
from tests.deployment.configuration import Block, arguments, blocks, nested
from tests.deployment.provider_schema import TERRAFORM, kept, module_problems, modules, resource_problems

MODULES = modules()
FILES = sorted(TERRAFORM.glob("*/*/*.tf"))


def schema_problems(folder: Path) -> list[str]:
    """Everything that the kept schema and the modules' variables have against a module."""
    schema = kept()
    found = [problem for block in blocks(folder, "resource") for problem in resource_problems(block, schema)]
    return found + [problem for block in blocks(folder, "module") for problem in module_problems(block)]


def rule_problems(folder: Path) -> list[str]:
    """Everything that breaks a rule which no schema can hold."""
    return [problem for block in blocks(folder, "resource") for problem in _rule_problems(block)]


def _rule_problems(block: Block) -> Iterator[str]:
    kind, given = block.labels[0], arguments(block.body)
    if kind == "aws_cloudwatch_log_group" and not {"retention_in_days", "kms_key_id"} <= given.keys():
        yield "a log group without retention or without encryption"
    if kind == "aws_ecs_service":
        if (given.get("deployment_minimum_healthy_percent"), given.get("deployment_maximum_percent")) != (0, 100):
            yield "a rollout above 100 percent"
        if "load_balancer" in dict(nested(block.body)):
            yield "a worker with a route"
    if kind.startswith("aws_vpc_security_group_ingress") and "cidr_ipv4" in given:
        yield "an ingress from addresses instead of a group"
    if kind in {"aws_db_instance", "aws_rds_cluster"} and given.get("publicly_accessible") is not False:
        yield "a database with a public address"


def unread_variables(folder: Path) -> list[str]:
    """The variables of a module that nothing in it reads but their own validation: what it is handed is lost."""
    text = "".join(block for file in folder.glob("*.tf") for block in _without_variables(file))
    declared = [block.labels[0] for block in blocks(folder, "variable")]
    return [name for name in declared if not re.search(rf"\bvar\.{name}\b", text)]


def _without_variables(file: Path) -> list[str]:
    return re.split(r"^variable \"[\s\S]*?^}$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_nothing_that_a_module_is_given_is_lost_in_it(folder: Path) -> None:
    assert unread_variables(folder) == []


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_the_provider_knows_every_argument_and_misses_none(folder: Path) -> None:
    assert schema_problems(folder) == []


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_no_rule_is_broken(folder: Path) -> None:
    assert rule_problems(folder) == []


class TestPlants:
    """Each fault, planted, is found."""

    @pytest.fixture
    def planted(self, tmp_path: Path) -> Path:
        # A provider may lie in a module's state, half a gigabyte of it.
        shutil.copytree(TERRAFORM / "modules", tmp_path / "modules", ignore=shutil.ignore_patterns(".terraform*"))
        return tmp_path / "modules"

    def plant(self, folder: Path, file: str, old: str, new: str) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    @pytest.mark.parametrize(
        ("module", "file", "old", "new", "found"),
        [
            ("service", "main.tf", "desired_count  ", "desired_count_of_tasks  ", "desired_count_of_tasks is unknown"),
            ("service", "alarms.tf", "  evaluation_periods  = 5\n", "", "evaluation_periods is missing"),
            ("service", "main.tf", "    weight ", "    weighting ", "capacity_provider_strategy: weighting is unknown"),
            ("service", "alarms.tf", "      id = metric_query.key\n", "", "metric_query: id is missing"),
            ("service", "main.tf", "  network_configuration {", "  network_setup {", "block network_setup is unknown"),
            ("service", "main.tf", "  secrets              = var.secrets\n", "", "module.task: secrets is missing"),
            (
                "service",
                "main.tf",
                "  secrets              =",
                "  secret_values             =",
                "secret_values is unknown",
            ),
        ],
    )
    def test_a_schema_fault_is_found(
        self, planted: Path, module: str, file: str, old: str, new: str, found: str
    ) -> None:
        self.plant(planted / module, file, old, new)
        assert any(found in problem for problem in schema_problems(planted / module))

    @pytest.mark.parametrize(
        ("module", "file", "old", "new", "found"),
        [
            ("service", "main.tf", "_maximum_percent         = 100", "_maximum_percent         = 200", "above 100"),
            ("task", "main.tf", "  retention_in_days = var.log_retention_days\n", "", "without retention"),
            (
                "database",
                "main.tf",
                "publicly_accessible    = false",
                "publicly_accessible    = true",
                "public address",
            ),
        ],
    )
    def test_a_broken_rule_is_found(
        self, planted: Path, module: str, file: str, old: str, new: str, found: str
    ) -> None:
        self.plant(planted / module, file, old, new)
        assert any(found in problem for problem in rule_problems(planted / module))

    @pytest.mark.parametrize(
        ("module", "file", "old", "new", "found"),
        [
            ("platform", "workers.tf", ", lookup(var.settings, each.key, {}))", ")", "settings"),
            ("service", "main.tf", "= var.environment\n", "= {}\n", "environment"),
            ("service", "main.tf", "= var.secrets\n", "= {}\n", "secrets"),
            (
                "task",
                "main.tf",
                "sort(keys(var.environment)) : { name = name, value = var.environment[name] }",
                "[] : {}",
                "environment",
            ),
        ],
    )
    def test_a_setting_that_is_lost_on_its_way_to_the_task_definition_is_found(
        self, planted: Path, module: str, file: str, old: str, new: str, found: str
    ) -> None:
        self.plant(planted / module, file, old, new)
        assert unread_variables(planted / module) == [found]


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_every_variable_and_output_says_what_it_is(folder: Path) -> None:
    declared = [*blocks(folder, "variable"), *blocks(folder, "output")]
    assert [block.labels[0] for block in declared if not block.body.get("description")] == []


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_a_variable_has_a_type_and_takes_null_only_where_it_says_so(folder: Path) -> None:
    for block in blocks(folder, "variable"):
        assert "type" in block.body
        takes_null = block.body.get("nullable") is not False
        assert takes_null == (block.body.get("default", "given") is None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_file_is_short(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 150


def test_the_environments_hold_the_same_parts() -> None:
    names = [
        sorted(file.name for file in (TERRAFORM / "environments" / each).glob("*.tf"))
        for each in ("staging", "production")
    ]
    assert names[0] == names[1]


def test_alarms_look_at_numbers_that_workers_export() -> None:
    exported = generate_latest(_filled()).decode()
    told = set(re.findall(r"headrace_[a-z_]+", (TERRAFORM / "modules/alarms/main.tf").read_text(encoding="utf-8")))
    carried = set(
        re.findall(r"headrace_[a-z_]+", (TERRAFORM / "modules/task/collector.tf").read_text(encoding="utf-8"))
    )
    assert told <= carried
    assert all(re.search(rf"^{name}\b", exported, re.MULTILINE) for name in carried)


def _filled() -> CollectorRegistry:
    """The registry of a worker that has counted everything once."""
    registry = CollectorRegistry()
    metrics = WorkerMetrics(registry)
    metrics.note_dead_letter(WorkKind.NOOP)
    metrics.note_lease_loss(WorkKind.NOOP, "test")
    metrics.note_error("test")
    metrics.note_claimed(WorkKind.NOOP, timedelta(0))
    return registry
