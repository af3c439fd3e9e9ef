"""Storage methods take the tenant first."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headrace.tools.arch_check.hierarchy import bases_of, names_of
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository, Zone
from headrace.tools.arch_check.syntax import (
    Function,
    classes,
    docstring_of,
    first_parameter,
    is_abstract,
    last_name,
    methods,
)

_SUFFIX = "StorageInterface"
_TENANT_WORD = re.compile(r"\btenant", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _StorageMethod:
    module: Module
    owner: str
    function: Function

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.function.name}"

    @property
    def takes_tenant(self) -> bool:
        first = first_parameter(self.function)
        return first is not None and first.arg == "org_id" and last_name(first.annotation) == "UUID"


def _storage_methods(repository: Repository) -> Iterator[_StorageMethod]:
    for module in repository.in_zone(Zone.OM):
        for owner in classes(module.tree):
            # The bare name is the root that hands the storages out; it holds no rows.
            if owner.name.endswith(_SUFFIX) and owner.name != _SUFFIX:
                abstract = (function for function in methods(owner) if is_abstract(function))
                yield from (_StorageMethod(module, owner.name, function) for function in abstract)


def _check(repository: Repository) -> Iterable[Problem]:
    bases = bases_of(repository)
    listed = set(repository.options.tenantless.tenantless)
    for method in _storage_methods(repository):
        entries = listed & names_of(method.owner, method.function.name, bases)
        yield from _check_listed(repository, method, entries) if entries else _check_unlisted(method)
        listed -= entries
    for name in sorted(listed):
        yield repository.option_problem(name, f"{name} is listed as tenantless, but no storage interface has it")


def _check_listed(repository: Repository, method: _StorageMethod, entries: set[str]) -> Iterator[Problem]:
    if method.takes_tenant:
        sentence = f"{method.name} is listed as tenantless, but takes org_id: take it off the list"
        yield from (repository.option_problem(entry, sentence) for entry in entries)
    elif not _TENANT_WORD.search(docstring_of(method.function)):
        sentence = f"{method.name} takes no tenant: its docstring must say why, in a sentence with the word tenant"
        yield method.module.problem(method.function, sentence)


def _check_unlisted(method: _StorageMethod) -> Iterator[Problem]:
    if not method.takes_tenant:
        sentence = f"{method.name} must take org_id: UUID first, or be listed under options.CTX-12 tenantless"
        yield method.module.problem(method.function, sentence)


RULES = (
    Rule(
        id="CTX-12",
        title="every storage method takes org_id: UUID first, except those listed as tenantless",
        reason="a statement without the tenant reads or changes another tenant's rows; the few that must are named",
        check=_check,
    ),
)
