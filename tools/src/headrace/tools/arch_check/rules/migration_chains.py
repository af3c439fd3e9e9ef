"""Each role has one chain of migrations, stamped and in pairs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import PurePosixPath

from headrace.tools.arch_check.catalog import roles_of
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository
from headrace.tools.arch_check.sql import sql_files
from headrace.tools.arch_check.syntax import assignments, text_of

_VERSIONS = ("om", "migrations", "versions")
_STEM = re.compile(r"^(?P<stamp>\d{12})_[a-z0-9_]+$")
_STAMP_FORMAT = "%Y%m%d%H%M"


@dataclass(frozen=True, slots=True)
class _Version:
    module: Module
    revision: str | None
    before: str | None

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.module.path)

    @property
    def role(self) -> str:
        return self.path.parent.name


def _versions(repository: Repository) -> list[_Version]:
    paths = ((module, PurePosixPath(module.path)) for module in repository.modules)
    wrappers = (module for module, path in paths if path.parts[:-2] == _VERSIONS and path.name != "__init__.py")
    return [_version(module) for module in wrappers]


def _version(module: Module) -> _Version:
    values = {name: text_of(value) for name, value in assignments(module.tree.body)}
    return _Version(module, values.get("revision"), values.get("down_revision"))


def _check_heads(repository: Repository) -> Iterator[Problem]:
    versions = _versions(repository)
    chains = {role: list(group) for role, group in groupby(versions, key=lambda version: version.role)}
    for chain in chains.values():
        yield from _check_chain(chain)
    for role in sorted(set(roles_of(repository).values()) - chains.keys()):
        yield Problem("/".join(_VERSIONS), 1, f"the role {role} has tables, but no migration chain")


def _check_chain(chain: list[_Version]) -> Iterator[Problem]:
    revisions = {version.revision for version in chain}
    parents = [version.before for version in chain]
    heads = [version for version in chain if version.revision not in parents]
    starts = [version for version in chain if version.before is None]
    for version in chain:
        if version.before is not None and version.before not in revisions:
            sentence = f"follows the revision {version.before}, which the role {version.role} does not have"
            yield version.module.problem(1, sentence)
        if version.before is not None and version.before >= (version.revision or ""):
            yield version.module.problem(1, f"is stamped no later than {version.before}, which it follows")
    yield from _check_single(heads, "heads")
    yield from _check_single(starts, "first revisions")


def _check_single(versions: list[_Version], what: str) -> Iterator[Problem]:
    if len(versions) > 1:
        names = ", ".join(str(version.revision) for version in versions)
        sentence = f"the role {versions[0].role} has {len(versions)} {what} ({names}), expected one"
        yield versions[-1].module.problem(1, sentence)


def _check_pairs(repository: Repository) -> Iterator[Problem]:
    versions = _versions(repository)
    scripts = {(file.role, PurePosixPath(file.path).name): file for file in sql_files(repository)}
    for version in versions:
        yield from _check_stamp(version)
        for direction in ("up", "down"):
            name = f"{version.path.stem}.{direction}.sql"
            if (version.role, name) not in scripts:
                yield version.module.problem(1, f"has no script sql/{version.role}/{name}")
    wrapped = {(version.role, version.path.stem) for version in versions}
    for file in scripts.values():
        if (file.role, file.stem) not in wrapped:
            yield Problem(file.path, 1, f"has no wrapper versions/{file.role}/{file.stem}.py")


def _check_stamp(version: _Version) -> Iterator[Problem]:
    match = _STEM.match(version.path.stem)
    if match is None or not _is_minute(match["stamp"]):
        yield version.module.problem(1, "must be named <YYYYMMDDHHMM>_<what_it_does>.py")
    elif version.revision is None or not version.revision.startswith(match["stamp"]):
        yield version.module.problem(1, f"its revision must be a literal that begins with the stamp {match['stamp']}")


def _is_minute(stamp: str) -> bool:
    try:
        datetime.strptime(stamp, _STAMP_FORMAT)  # noqa: DTZ007 - only its shape is asked for
    except ValueError:
        return False
    return True


RULES = (
    Rule(
        id="MIG-5",
        title="each role has one chain of revisions with one head",
        reason="with two heads the upgrade stops, or half of the processes run half of the schema",
        check=_check_heads,
    ),
    Rule(
        id="MIG-6",
        title="each revision is stamped by minute and has an up and a down script, each script a revision",
        reason="a script without its wrapper never runs, and a revision without its way down cannot be taken back",
        check=_check_pairs,
    ),
)
