"""The lock's part of a new worker that asks for nothing new, worked out from what the other members ask for.

uv resolves again, behind the index, as soon as a member is new. Where each of the worker's requirements stands in
another member's project word for word, uv's answer for it is known: neither the index nor the shared lock is touched.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.tools.lock.parts import WORKERS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SEPARATORS = re.compile(r"[-_.]+")
_PLAIN_KEYS = frozenset(
    {"name", "version", "description", "requires-python", "dependencies", "scripts", "entry-points"}
)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the workspace that is locked already.

    Attributes:
        project: Its pyproject.toml.
        stanza: What the lock says about it.
    """

    project: Mapping[str, Any]
    stanza: str


def draft_stanza(folder: str, project: Mapping[str, Any], members: Iterable[Member]) -> str | None:
    """Returns the stanza that uv would write for a worker.

    Args:
        folder: The worker's folder below `workers/`.
        project: Its pyproject.toml.
        members: The members that are locked already.

    Returns:
        The stanza, still to be confirmed by uv; None when only uv can tell: a requirement is new, or the project has
        extras, groups or other things that a plain worker does not.
    """
    table = project.get("project", {})
    if not {"name", "version"} <= set(table) <= _PLAIN_KEYS or "dependency-groups" in project:
        return None
    known = [_entries(requirement, members) for requirement in table.get("dependencies", [])]
    if None in known:
        return None
    entries = sorted(entry for entry in known if entry)
    return "".join(
        [
            f'[[package]]\nname = "{_normal(table["name"])}"\nversion = "{table["version"]}"\n',
            f'source = {{ editable = "{WORKERS}/{folder}" }}\n',
            _array("dependencies", [dependency for dependency, _ in entries]),
            _array("\n[package.metadata]\nrequires-dist", [required for _, required in entries]),
        ]
    )


def _entries(requirement: str, members: Iterable[Member]) -> tuple[str, str] | None:
    """Returns the two lines that a member with this requirement has for it."""
    found = _NAME.match(requirement)
    if found is None:
        return None
    for member in members:
        if requirement in member.project.get("project", {}).get("dependencies", []):
            lines = re.findall(rf'^    \{{ name = "{_normal(found.group())}"[ ,].*\n', member.stanza, re.MULTILINE)
            # One that is asked for twice, or in an extra too, has more lines than these.
            return (lines[0], lines[1]) if len(lines) == 2 else None  # noqa: PLR2004 - locked once, required once
    return None


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


def _array(key: str, lines: list[str]) -> str:
    return f"{key} = [\n{''.join(lines)}]\n" if lines else ""
