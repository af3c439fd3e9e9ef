"""The tables of the object model: the role and scope maps, and the ORM classes that declare tables."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from headrace.tools.arch_check.repository import Module, Repository, Zone
from headrace.tools.arch_check.syntax import assignments, classes, last_name, text_of

MAP_NAMES = ("TABLE_ROLES", "TABLE_SCOPES")


@dataclass(frozen=True, slots=True)
class TableMap:
    """One literal map of table names.

    Attributes:
        values: Table name to its role or scope, in lower case.
        lines: Table name to the line of its entry.
        unread: Lines of entries that are not literals.
    """

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    unread: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OrmTable:
    """One ORM class that names its table."""

    module: Module
    owner: ast.ClassDef
    line: int
    name: str | None


def roles_module(repository: Repository) -> Module | None:
    """Give the module of the maps; None in a tree that has no storage yet."""
    name = f"{repository.package}.om.storage.roles"
    return next((module for module in repository.in_zone(Zone.OM) if module.name == name), None)


def table_map(repository: Repository, name: str) -> TableMap | None:
    """Read one of the maps of the roles module; None where it is missing or holds no dict literal."""
    module = roles_module(repository)
    values = [value for target, value in assignments(module.tree.body) if target == name] if module else []
    literals = (node for value in values for node in ast.walk(value) if isinstance(node, ast.Dict))
    literal = next(literals, None)
    return None if literal is None else _read_map(literal)


def roles_of(repository: Repository) -> dict[str, str]:
    """Give table to role; empty where the map is missing."""
    roles = table_map(repository, "TABLE_ROLES")
    return roles.values if roles else {}


def scopes_of(repository: Repository) -> dict[str, str]:
    """Give table to tenancy scope; empty where the map is missing."""
    scopes = table_map(repository, "TABLE_SCOPES")
    return scopes.values if scopes else {}


def orm_tables(repository: Repository) -> Iterator[OrmTable]:
    """Yield every class of the object model that assigns `__tablename__`."""
    for module in repository.in_zone(Zone.OM):
        for owner in classes(module.tree):
            for target, value in assignments(owner.body):
                if target == "__tablename__":
                    yield OrmTable(module, owner, value.lineno, text_of(value))


def _read_map(literal: ast.Dict) -> TableMap:
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    unread: list[int] = []
    for key, value in zip(literal.keys, literal.values, strict=True):
        name, meaning = text_of(key), last_name(value).lower()
        if name and meaning:
            values[name], lines[name] = meaning, value.lineno
        else:
            unread.append(value.lineno)
    return TableMap(values, lines, tuple(unread))
