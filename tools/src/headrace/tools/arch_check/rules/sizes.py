"""Modules and functions stay small."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import PurePosixPath

from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository
from headrace.tools.arch_check.syntax import functions

_MAX_FUNCTION = 50
_MAX_MODULE = 300
_MAX_FILE = {".nix": 80, ".tf": 150}
_HEAD = 30
_REASON = re.compile(r"^\s*# size: \S.{9,}$", re.MULTILINE)
_NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def code_lines(module: Module) -> set[int]:
    """Give the lines that hold code: neither blank, nor comment, nor docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    spans = ((token.start[0], token.end[0]) for token in tokens if token.type not in _NO_CODE)
    lines = {line for first, last in spans for line in range(first, last + 1)}
    return lines - _docstring_lines(module.tree)


def _docstring_lines(tree: ast.Module) -> set[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node, clean=False))
    texts = (node.body[0] for node in nodes)
    return {line for text in texts for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)}


def _has_reason(text: str) -> bool:
    return _REASON.search("\n".join(text.splitlines()[:_HEAD])) is not None


def _too_long(what: str, num_lines: int, limit: int) -> str:
    return f"{what} has {num_lines} code lines, more than {limit}: split it, or say why in a line '# size: <reason>'"


def _check_modules(repository: Repository) -> Iterator[Problem]:
    for module in repository.modules:
        num_lines = len(code_lines(module))
        if num_lines > _MAX_MODULE and not _has_reason(module.text):
            yield module.problem(1, _too_long("the module", num_lines, _MAX_MODULE))


def _check_files(repository: Repository) -> Iterator[Problem]:
    for file in repository.files:
        limit = _MAX_FILE.get(PurePosixPath(file.path).suffix)
        lines = [line for line in file.text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "//"))]
        if limit is not None and len(lines) > limit and not _has_reason(file.text):
            yield Problem(file.path, 1, _too_long("the file", len(lines), limit))


def _check_functions(repository: Repository) -> Iterator[Problem]:
    for module in repository.modules:
        code = code_lines(module)
        for function in functions(module.tree):
            num_lines = len(code.intersection(range(function.lineno, (function.end_lineno or 0) + 1)))
            if num_lines > _MAX_FUNCTION:
                sentence = f"{function.name} has {num_lines} code lines, more than {_MAX_FUNCTION}: split it"
                yield module.problem(function, sentence)


RULES = (
    Rule(
        id="SIZ-1",
        title=f"a module above {_MAX_MODULE} code lines says why in a line '# size: <reason>' near its top",
        reason="a module that nobody can read at once is changed by guessing",
        check=_check_modules,
    ),
    Rule(
        id="SIZ-2",
        title=f"no function has more than {_MAX_FUNCTION} code lines",
        reason="a long function hides its branches from the reader and from the tests",
        check=_check_functions,
    ),
    Rule(
        id="SIZ-3",
        title="a Nix file above 80 or Terraform file above 150 lines says why",
        reason="configuration grows by appending, and is reviewed by nobody once it is long",
        check=_check_files,
    ),
)
