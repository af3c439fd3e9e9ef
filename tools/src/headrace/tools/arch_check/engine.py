"""Runs every rule over a tree."""

from headrace.tools.arch_check.problems import Finding
from headrace.tools.arch_check.repository import Repository
from headrace.tools.arch_check.rules import RULES


def check(repository: Repository) -> tuple[Finding, ...]:
    """Give every finding of a tree, ordered by place; empty when it is clean."""
    return tuple(
        sorted(
            Finding(problem.path, problem.line, rule.id, problem.sentence)
            for rule in RULES
            for problem in rule.check(repository)
        )
    )
