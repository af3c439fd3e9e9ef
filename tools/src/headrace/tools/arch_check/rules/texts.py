"""What no file of the tree contains."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Repository

_INDEX_HOSTS = re.compile(
    r"\b(?:pypi\.(?:org|python\.org)|pythonhosted\.org|npmjs\.(?:org|com)|crates\.io|rubygems\.org"
    r"|(?:proxy|sum)\.golang\.org|(?:repo|conda)\.anaconda\.(?:org|com))\b",
    re.IGNORECASE,
)
# Written so that the pattern does not match itself.
_MARKERS = re.compile(r"\b(?:[T]ODO|[F]IXME|[X]XX)\b")
_CODE_SUFFIXES = frozenset(
    {".py", ".pyi", ".sql", ".sh", ".nix", ".tf", ".toml", ".yml", ".yaml", ".mk", ".Dockerfile"}
)
_CODE_NAMES = frozenset({"Makefile", "Dockerfile", "run"})


def _matches(repository: Repository, pattern: re.Pattern[str], *, code_only: bool) -> Iterator[tuple[str, int, str]]:
    for file in repository.files:
        if code_only and not _is_code(PurePosixPath(file.path)):
            continue
        for match in pattern.finditer(file.text):
            yield file.path, file.text.count("\n", 0, match.start()) + 1, match[0]


def _is_code(path: PurePosixPath) -> bool:
    return path.suffix in _CODE_SUFFIXES or path.name in _CODE_NAMES


def _check_parses(repository: Repository) -> Iterator[Problem]:
    yield from repository.unparsed


def _check_hosts(repository: Repository) -> Iterator[Problem]:
    for path, line, host in _matches(repository, _INDEX_HOSTS, code_only=False):
        yield Problem(path, line, f"names the package index host {host}: the index is a matter of the environment")


def _check_markers(repository: Repository) -> Iterator[Problem]:
    for path, line, marker in _matches(repository, _MARKERS, code_only=True):
        yield Problem(path, line, f"{marker} marks unfinished work: finish it, or file an issue")


PARSE_RULES = (
    Rule(
        id="SRC-1",
        title="every Python file parses",
        reason="no other rule can be decided for a file that does not",
        check=_check_parses,
    ),
)

RULES = (
    Rule(
        id="TXT-1",
        title="no file names the host of a package index",
        reason="a tree that names one cannot be built behind a mirror",
        check=_check_hosts,
    ),
    Rule(
        id="TXT-2",
        title="no code carries a marker of unfinished work",
        reason="a marker is a promise that nothing keeps",
        check=_check_markers,
    ),
)
