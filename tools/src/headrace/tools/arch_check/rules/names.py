"""Modules are named for what they hold."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Repository

_EMPTY_NAMES = frozenset({"utils", "util", "common", "helpers", "helper", "misc"})


def _check(repository: Repository) -> Iterator[Problem]:
    for module in repository.modules:
        parts = PurePosixPath(module.path).with_suffix("").parts
        for name in sorted(_EMPTY_NAMES.intersection(parts)):
            yield module.problem(1, f"{name} says nothing about what the module holds: name it for its subject")


RULES = (
    Rule(
        id="NAM-1",
        title="no module or folder is called utils, common, helpers or misc",
        reason="a name that fits everything collects everything",
        check=_check,
    ),
)
