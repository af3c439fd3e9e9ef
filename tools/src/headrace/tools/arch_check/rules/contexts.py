"""Contexts are built in few places."""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from headrace.tools.arch_check.hierarchy import ancestors, bases_of
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository
from headrace.tools.arch_check.syntax import Function, classes, functions, last_name

_UPPER_STAGES = frozenset({"OpContext", "SecurityContext"})
_REQUEST_STAGE = frozenset({"RequestContext"})
_BUILDERS = frozenset({"model_validate", "model_validate_json", "model_validate_strings", "model_construct"})


def _constructions(module: Module, stages: frozenset[str]) -> Iterator[ast.expr]:
    """Yield every expression of a module that makes a context of one of the stages, by name, copy or own class."""
    names = stages | _aliases(module.tree, stages)
    yield from _calls(module.tree, partial(_names_stage, names))
    for owner in classes(module.tree):
        if owner.name in names:
            yield from _calls(owner, _makes_own_class)
    for function in functions(module.tree):
        yield from _calls(function, partial(_copies, _held_contexts(function, names)))


def _aliases(tree: ast.Module, stages: frozenset[str]) -> set[str]:
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {alias.asname for node in imports for alias in node.names if alias.asname and alias.name in stages}


def _calls(tree: ast.AST, is_wanted: Callable[[ast.Call], bool]) -> Iterator[ast.expr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_wanted(node))


def _names_stage(names: frozenset[str], call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=stage, attr=attr) if attr in _BUILDERS:
            return last_name(stage) in names
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return last_name(call.func) in names
        case _:
            return False


def _makes_own_class(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="cls") | ast.Attribute(value=ast.Name(id="self"), attr="model_copy"):
            return True
        case ast.Attribute(value=ast.Name(id="cls"), attr=attr):
            return attr in _BUILDERS
        case _:
            return False


def _held_contexts(function: Function, names: frozenset[str]) -> set[str]:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {argument.arg for argument in arguments if last_name(argument.annotation) in names}


def _copies(held: set[str], call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr="model_copy"):
            return name in held
        case ast.Name(id="replace") | ast.Attribute(attr="replace"):
            return bool(call.args) and last_name(call.args[0]) in held
        case _:
            return False


def _check_sites(
    repository: Repository, stages: frozenset[str], option: str, sites: Iterable[str]
) -> Iterator[Problem]:
    listed = set(sites)
    building: set[str] = set()
    what = " or ".join(sorted(stages & (_UPPER_STAGES | _REQUEST_STAGE)))
    for module in repository.modules:
        places = {} if module.is_test else {node.lineno: node for node in _constructions(module, stages)}
        if places:
            building.add(module.name)
        if module.name not in listed:
            sentence = f"{module.name} constructs {what}, but is not listed under options.CTX-26 {option}"
            yield from (module.problem(node, sentence) for node in places.values())
    for name in sorted(listed - building):
        yield repository.option_problem(name, f"{name} is listed under {option}, but constructs no {what}")


def _derived(repository: Repository, stages: frozenset[str]) -> frozenset[str]:
    bases = bases_of(repository)
    return stages | {name for name in bases if stages & ancestors(name, bases)}


def _check(repository: Repository) -> Iterator[Problem]:
    contexts = repository.options.contexts
    upper = _derived(repository, _UPPER_STAGES)
    request = _derived(repository, _REQUEST_STAGE) - upper
    yield from _check_sites(repository, upper, "sites", contexts.sites)
    yield from _check_sites(repository, request, "request_sites", contexts.request_sites)


RULES = (
    Rule(
        id="CTX-26",
        title="a context is constructed only in the listed modules; tests are free to",
        reason="a stage is evidence that somebody was checked; one built elsewhere is a forged principal",
        check=_check,
    ),
)
