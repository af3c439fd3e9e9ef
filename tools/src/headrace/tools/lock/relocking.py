"""Locks again, asking the package index as little as possible."""

import tomllib
from pathlib import Path

from headrace.tools.lock.drafting import Member, draft_stanza
from headrace.tools.lock.exceptions import LockError
from headrace.tools.lock.parts import WORKERS, Parts, join, split, stanzas_of
from headrace.tools.lock.probing import choose_sample, configured_index, run_uv
from headrace.tools.lock.text import Index, hydrate, index_of
from headrace.tools.lock.workspace import Workspace, read_kept, write


def hydrate_for(tree: Workspace, stripped: str) -> None:
    """Writes uv's lock for the index that uv is set up with; where that does not answer, for that of the last lock.

    Raises:
        LockError: The index does not answer and there is no earlier lock, or it names its files in another way.
    """
    sample = choose_sample(stripped)
    try:
        index = configured_index(tree.uv, sample, tree.root / ".headrace")
    except LockError:
        last = _last_index(tree.hydrated, sample.path)
        if last is None:
            raise
        index = last
    write(tree.hydrated, hydrate(stripped, index))


def resolve(tree: Workspace) -> None:
    """Writes uv's lock for the projects as they are now, keeping every locked version that still fits.

    The index is asked when something is needed that is not locked yet; only then.
    """
    kept = read_kept(tree)
    if kept is None:
        run_uv(tree.uv, "lock", folder=tree.root)
        return
    index = _last_index(tree.hydrated, choose_sample(kept).path)
    if index and (_resolve_as_drafted(tree, kept, index) or _resolve_offline(tree, kept, index)):
        return
    hydrate_for(tree, kept)
    run_uv(tree.uv, "lock", folder=tree.root)


def _resolve_as_drafted(tree: Workspace, kept: str, index: Index) -> bool:
    """Adds the new workers that ask for nothing new and has uv confirm the whole; False when that is not enough."""
    drafted = _with_drafts(tree, kept)
    if drafted is None:
        return False
    write(tree.hydrated, hydrate(drafted, index))
    return _accepts(tree, "--check", "--offline")


def _resolve_offline(tree: Workspace, kept: str, index: Index) -> bool:
    """Resolves with what uv has in its cache; False when that is not enough, or adds what is not locked yet.

    A version that is new must come from the index as it is today, not as it was when the cache was filled.
    """
    write(tree.hydrated, hydrate(kept, index))
    locked = _distributions(kept)
    return _accepts(tree, "--offline") and _distributions(tree.hydrated.read_text(encoding="utf-8")) <= locked


def _with_drafts(tree: Workspace, kept: str) -> str | None:
    """Returns the lock with each new worker's stanza as far as it can be told; None when one cannot."""
    stanzas = stanzas_of(kept)
    known = [Member(tree.project(*each.parts), stanzas[name]) for name, each in _members(tree, kept).items()]
    parts = split(kept)
    drafts: dict[str, str] = {}
    for folder in set(tree.workers()) - set(parts.workers):
        stanza = draft_stanza(folder, tree.project(WORKERS, folder), known)
        if stanza is None:
            return None
        drafts[folder] = stanza
    return join(Parts(parts.shared, {**parts.workers, **drafts}))


def _members(tree: Workspace, lock: str) -> dict[str, Path]:
    """Returns the folder of each member that is there and locked, the root left out, by name."""
    packages = tomllib.loads(lock)["package"]
    folders = {each["name"]: Path(each["source"]["editable"]) for each in packages if "editable" in each["source"]}
    return {name: each for name, each in folders.items() if (tree.root / each / "pyproject.toml").exists()}


def _distributions(lock: str) -> set[tuple[str, str]]:
    packages = tomllib.loads(lock)["package"]
    return {(each["name"], each["version"]) for each in packages if "registry" in each["source"]}


def _accepts(tree: Workspace, *arguments: str) -> bool:
    try:
        run_uv(tree.uv, "lock", *arguments, folder=tree.root)
    except LockError:
        return False
    return True


def _last_index(hydrated: Path, path: str) -> Index | None:
    """Returns the index of the last lock that uv was given; None when there is none or it lacks the file."""
    try:
        return index_of(hydrated.read_text(encoding="utf-8"), path)
    except (FileNotFoundError, LockError):
        return None
