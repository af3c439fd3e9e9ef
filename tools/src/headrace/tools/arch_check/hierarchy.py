"""Which class derives from which, by name, over the whole tree."""

from headrace.tools.arch_check.repository import Repository
from headrace.tools.arch_check.syntax import base_names, classes

type Bases = dict[str, set[str]]


def bases_of(repository: Repository) -> Bases:
    """Give every shipped class's name with the names of its bases; classes of one name are taken together."""
    bases: Bases = {}
    for module in repository.sources:
        for owner in classes(module.tree):
            bases.setdefault(owner.name, set()).update(base_names(owner))
    return bases


def ancestors(name: str, bases: Bases) -> set[str]:
    """Give the names of every class that a class derives from, near and far, without itself."""
    found: set[str] = set()
    waiting = set(bases.get(name, ()))
    while waiting:
        base = waiting.pop()
        found.add(base)
        waiting |= bases.get(base, set()) - found
    return found - {name}


def names_of(owner: str, member: str, bases: Bases) -> set[str]:
    """Give every `<Class>.<member>` by which a member may be listed: under its own class and those that inherit it."""
    heirs = {name for name in bases if owner in ancestors(name, bases)}
    return {f"{name}.{member}" for name in heirs | {owner}}
