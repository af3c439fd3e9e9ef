"""Imports go one way: workers to om to infra; nothing shipped needs the tools."""

from collections.abc import Iterable, Iterator

from headrace.tools.arch_check.imports import imports_of, reaches
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository, Zone


def _imports_into(modules: Iterable[Module], packages: Iterable[str], sentence: str) -> Iterator[Problem]:
    targets = tuple(packages)
    for module in modules:
        lines = {line for line, name in imports_of(module) if any(reaches(name, target) for target in targets)}
        yield from (module.problem(line, sentence) for line in sorted(lines))


def _check_infra(repository: Repository) -> Iterator[Problem]:
    targets = (f"{repository.package}.om", f"{repository.package}.workers")
    yield from _imports_into(repository.in_zone(Zone.INFRA), targets, "infra must import nothing of om or of a worker")


def _check_managers(repository: Repository) -> Iterator[Problem]:
    targets = (f"{repository.package}.workers",)
    yield from _imports_into(repository.in_zone(Zone.OM), targets, "the object model must import no worker")


def _check_tools(repository: Repository) -> Iterator[Problem]:
    importers = (module for module in repository.modules if not module.is_test and module.zone is not Zone.TOOLS)
    yield from _imports_into(importers, (f"{repository.package}.tools",), "only tests and tools may import the tools")


RULES = (
    Rule(
        id="LAY-1",
        title="infra imports nothing of om",
        reason="a toolkit that knows the domain cannot be used or tested without it",
        check=_check_infra,
    ),
    Rule(
        id="LAY-2",
        title="the object model imports no worker",
        reason="a manager that needs a worker ties every process to that worker's release",
        check=_check_managers,
    ),
    Rule(
        id="LAY-3",
        title="nothing outside of tests imports the tools",
        reason="the tools are not in any image, so such an import fails first in production",
        check=_check_tools,
    ),
)
