"""Constructors open nothing."""

import ast
from collections.abc import Iterator

from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Repository
from headrace.tools.arch_check.syntax import Function, classes, last_name, methods

_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "model_post_init"})
_OPENERS = frozenset(
    {"create_engine", "create_async_engine", "create_pool", "connect", "open", "open_connection", "urlopen", "socket"}
)
_DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _check(repository: Repository) -> Iterator[Problem]:
    for module in repository.sources:
        for owner in classes(module.tree):
            if owner.name.endswith("Impl"):
                for call in _opening_calls(owner):
                    sentence = f"{owner.name} calls {last_name(call.func)} in its constructor: open it in start()"
                    yield module.problem(call, sentence)


def _opening_calls(owner: ast.ClassDef) -> Iterator[ast.Call]:
    for function in methods(owner):
        if function.name in _CONSTRUCTORS:
            yield from (call for call in _calls_made(function) if last_name(call.func) in _OPENERS)


def _calls_made(function: Function) -> Iterator[ast.Call]:
    """Yield the calls that run with a function; the bodies of functions it only defines are left out."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, _DEFERRED):
            waiting.extend(ast.iter_child_nodes(node))


RULES = (
    Rule(
        id="IFC-4",
        title="the constructor of an implementation opens no connection, pool, engine or file",
        reason="what a constructor opened is leaked when the next constructor fails, and import order decides when",
        check=_check,
    ),
)
