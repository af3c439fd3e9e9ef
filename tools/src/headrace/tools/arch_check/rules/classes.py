"""Interfaces are abstract and small; implementations implement one."""

import ast
from collections.abc import Iterator

from headrace.tools.arch_check.hierarchy import ancestors, bases_of
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository
from headrace.tools.arch_check.syntax import (
    Function,
    base_names,
    body_of,
    classes,
    docstring_of,
    is_abstract,
    is_ellipsis,
    is_public,
    methods,
)

_MAX_METHODS = 12


def _owners(repository: Repository, suffix: str) -> Iterator[tuple[Module, ast.ClassDef]]:
    for module in repository.sources:
        yield from ((module, owner) for owner in classes(module.tree) if owner.name.endswith(suffix))


def _public_methods(owner: ast.ClassDef) -> list[Function]:
    return [function for function in methods(owner) if is_public(function.name)]


def _check_abstract(repository: Repository) -> Iterator[Problem]:
    for module, owner in _owners(repository, "Interface"):
        if not any(name == "ABC" or name.endswith("Interface") for name in base_names(owner)):
            yield module.problem(owner, f"{owner.name} must derive from ABC or from another interface")
        for function in _public_methods(owner):
            yield from _check_method(module, owner, function)


def _check_method(module: Module, owner: ast.ClassDef, function: Function) -> Iterator[Problem]:
    name = f"{owner.name}.{function.name}"
    if not is_abstract(function):
        yield module.problem(function, f"{name} must be an abstract method")
    if not docstring_of(function):
        yield module.problem(function, f"{name} needs a docstring that says what the caller gets")
    body = body_of(function)
    if not (len(body) == 1 and is_ellipsis(body[0])):
        yield module.problem(function, f"{name} must have no body but its docstring and ...")


def _check_size(repository: Repository) -> Iterator[Problem]:
    for module, owner in _owners(repository, "Interface"):
        num_methods = len(_public_methods(owner))
        if num_methods > _MAX_METHODS:
            sentence = (
                f"{owner.name} has {num_methods} methods, at most {_MAX_METHODS} are expected: split it by reader"
            )
            yield module.problem(owner, sentence)


def _check_implements(repository: Repository) -> Iterator[Problem]:
    bases = bases_of(repository)
    for module, owner in _owners(repository, "Impl"):
        if not any(name.endswith("Interface") for name in ancestors(owner.name, bases)):
            yield module.problem(owner, f"{owner.name} must implement an interface, a class named <X>Interface")


RULES = (
    Rule(
        id="IFC-1",
        title="an interface is an ABC whose public methods are abstract, with a docstring and ... as the body",
        reason="behaviour in an interface is inherited unseen, and a method that is not abstract can be forgotten",
        check=_check_abstract,
    ),
    Rule(
        id="IFC-2",
        title=f"an interface has at most {_MAX_METHODS} methods of its own",
        reason="a wide interface makes every reader depend on what only one of them calls",
        check=_check_size,
    ),
    Rule(
        id="IFC-3",
        title="a class named <X>Impl implements an interface",
        reason="the name promises that another implementation can take its place",
        check=_check_implements,
    ),
)
