"""The lock in parts, as texts: a stanza for each worker, and what they share; nothing here touches files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from headrace.tools.lock.exceptions import LockError

WORKERS = "workers"
HEADER = "# What uv locks about this worker itself; `make lock` writes it, beside the shared nix/uv.lock.\n"
_NEXT_STANZA = re.compile(r"\n(?=\[\[package\]\]\n)")
_NAME = re.compile(r'^name = "([^"]+)"$', re.MULTILINE)
_FOLDER = re.compile(rf'^source = \{{ (?:editable|virtual|directory) = "{WORKERS}/([^"/]+)" \}}$', re.MULTILINE)
_MEMBERS = re.compile(r'^members = \[\n(?:    "[^"]+",\n)*\]$', re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"')
_COMMENTS = re.compile(r"\A(?:#[^\n]*\n)*")


@dataclass(frozen=True, slots=True)
class Parts:
    """A lock taken apart.

    Attributes:
        shared: The lock without any worker's stanza and without the workers in the list of members.
        workers: The stanza of each worker by its folder below `workers/`, with a line on top that says what it is.
    """

    shared: str
    workers: Mapping[str, str]


def split(lock: str) -> Parts:
    """Takes a lock apart; one without workers is all shared."""
    head, *stanzas = _NEXT_STANZA.split(lock)
    own = {folder: each for each in stanzas if (folder := _folder_of(each))}
    names = {_name_of(each) for each in own.values()}
    rest = (each for each in stanzas if not _folder_of(each))
    shared = "\n".join([_with_members(head, lambda members: members - names), *rest])
    return Parts(shared, MappingProxyType({folder: HEADER + each for folder, each in own.items()}))


def join(parts: Parts) -> str:
    """Puts a lock together in uv's own order, which is by name; the reverse of `split`.

    Raises:
        LockError: A worker's part is not one stanza about the folder that it is for.
    """
    own = [_stanza_of(folder, part) for folder, part in parts.workers.items()]
    head, *stanzas = _NEXT_STANZA.split(parts.shared)
    names = {_name_of(each) for each in own}
    # Sorting is stable: several versions of one package keep the order that they have.
    ordered = sorted([*stanzas, *own], key=_name_of)
    return "\n".join([_with_members(head, lambda members: members | names), *ordered])


def stanzas_of(lock: str) -> dict[str, str]:
    """Returns the stanzas of a lock by the name of the package; of several versions the last."""
    return {_name_of(each): each for each in _NEXT_STANZA.split(lock)[1:]}


def _stanza_of(folder: str, part: str) -> str:
    head, *stanzas = _NEXT_STANZA.split("\n" + _COMMENTS.sub("", part))
    if head or len(stanzas) != 1 or _folder_of(stanzas[0]) != folder:
        raise LockError(f"{WORKERS}/{folder}/lock.toml is not about {WORKERS}/{folder} alone; run `make lock`.")
    return stanzas[0]


def _name_of(stanza: str) -> str:
    found = _NAME.search(stanza)
    if found is None:
        raise LockError("A package of the lock has no name; run `make lock`.")
    return found.group(1)


def _folder_of(stanza: str) -> str | None:
    found = _FOLDER.search(stanza)
    return found.group(1) if found else None


def _with_members(head: str, change: Callable[[set[str]], set[str]]) -> str:
    """Rewrites the list of members, where the lock has one, as uv writes it."""

    def rewrite(found: re.Match[str]) -> str:
        names = sorted(change(set(_QUOTED.findall(found.group()))))
        return "\n".join(["members = [", *(f'    "{name}",' for name in names), "]"])

    return _MEMBERS.sub(rewrite, head, count=1)
