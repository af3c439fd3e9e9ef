"""Operations require their permission first."""

import ast
from collections.abc import Iterable, Iterator

from headrace.tools.arch_check.hierarchy import bases_of, names_of
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository, Zone
from headrace.tools.arch_check.syntax import (
    Function,
    base_names,
    body_of,
    classes,
    first_parameter,
    is_public,
    last_name,
    methods,
)

type _Operation = tuple[Module, str, Function]  # with the name of the class


def _operations(repository: Repository) -> Iterator[_Operation]:
    """Yield the public methods of manager implementations that take an OpContext first.

    A class counts when it is an `...Impl` in a namespace's `impl` folder, a manager's anywhere, or a base of one in
    such a folder (an implementation split over files).
    """
    owners = [(module, owner) for module in repository.in_zone(Zone.OM) for owner in classes(module.tree)]
    owners = [(module, owner) for module, owner in owners if _may_hold_operations(module, owner)]
    bases = {name for _, owner in owners if owner.name.endswith("Impl") for name in base_names(owner)}
    for module, owner in owners:
        if owner.name.endswith("Impl") or owner.name in bases:
            for function in methods(owner):
                if is_public(function.name) and _takes_context(function):
                    yield module, owner.name, function


def _may_hold_operations(module: Module, owner: ast.ClassDef) -> bool:
    parts = module.name.split(".")
    return owner.name.endswith("ManagerImpl") or ("impl" in parts and "storage" not in parts)


def _takes_context(function: Function) -> bool:
    first = first_parameter(function)
    return first is not None and last_name(first.annotation) == "OpContext"


def _requires_first(function: Function) -> bool:
    first, body = first_parameter(function), body_of(function)
    match body[0] if body else None:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=held), attr="require"), args=[permission])):
            return first is not None and held == first.arg and _is_permission(permission)
        case _:
            return False


def _is_permission(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and last_name(node.value) == "Permission"


def _check(repository: Repository) -> Iterable[Problem]:
    bases = bases_of(repository)
    exempt = set(repository.options.requires.exempt)
    for module, owner, function in _operations(repository):
        entries = exempt & names_of(owner, function.name, bases)
        exempt -= entries
        if _requires_first(function):
            sentence = f"{owner}.{function.name} is exempt, but requires its permission: take it off the list"
            yield from (repository.option_problem(entry, sentence) for entry in entries)
        elif not entries:
            sentence = "must begin with ctx.require(Permission.X), or be listed under options.CTX-30 exempt"
            yield module.problem(function, f"{owner}.{function.name} {sentence}")
    for name in sorted(exempt):
        yield repository.option_problem(name, f"{name} is exempt, but no manager has such an operation")


RULES = (
    Rule(
        id="CTX-30",
        title="a manager's operation begins with ctx.require(Permission.X), except those exempt for a reason",
        reason="a permission asked after the first effect, or never, lets a viewer write",
        check=_check,
    ),
)
