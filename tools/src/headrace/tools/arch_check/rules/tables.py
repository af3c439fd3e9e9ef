"""Every table has a role and a scope, and no key crosses roles."""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from headrace.tools.arch_check.catalog import (
    MAP_NAMES,
    OrmTable,
    TableMap,
    orm_tables,
    roles_module,
    roles_of,
    table_map,
)
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Module, Repository
from headrace.tools.arch_check.syntax import last_name, text_of


def _check_maps(repository: Repository) -> Iterator[Problem]:
    tables = list(orm_tables(repository))
    yield from (problem for table in tables for problem in _check_declaration(table))
    module = roles_module(repository)
    if module is None:
        sentence = "om/storage/roles.py must give this table a role and a scope, but there is no such module"
        yield from (table.module.problem(table.line, sentence) for table in tables)
        return
    for name in MAP_NAMES:
        yield from _check_map(module, name, table_map(repository, name), tables)


def _check_declaration(table: OrmTable) -> Iterator[Problem]:
    if table.name is None:
        yield table.module.problem(table.line, f"{table.owner.name}.__tablename__ must be a string literal")
    if PurePosixPath(table.module.path).parts[-3:-1] != ("storage", "tables"):
        yield table.module.problem(table.line, f"{table.owner.name} must be declared under storage/tables/")


def _check_map(module: Module, name: str, entries: TableMap | None, tables: list[OrmTable]) -> Iterator[Problem]:
    if entries is None:
        yield module.problem(1, f"{name} must be assigned a dict literal of table names")
        return
    yield from (module.problem(line, f"an entry of {name} is no literal") for line in entries.unread)
    for table in tables:
        if table.name is not None and table.name not in entries.values:
            yield table.module.problem(table.line, f"the table {table.name} is missing from {name}")
    declared = {table.name for table in tables}
    for table_name in sorted(entries.values.keys() - declared):
        yield module.problem(entries.lines[table_name], f"{name} names {table_name}, but no ORM class declares it")


def _check_keys(repository: Repository) -> Iterator[Problem]:
    tables = list(orm_tables(repository))
    roles = roles_of(repository)
    names = {table.owner.name: table.name for table in tables if table.name}
    for table in tables:
        for target in _key_targets(table.owner):
            yield from _check_key(table, target, names, roles)


def _key_targets(owner: ast.ClassDef) -> Iterator[ast.expr]:
    for node in ast.walk(owner):
        match node:
            case ast.Call(func=func, args=[target, *_]) if last_name(func) == "ForeignKey":
                yield target
            case ast.Call(func=func, args=[_, ast.List(elts=targets) | ast.Tuple(elts=targets), *_]) if (
                last_name(func) == "ForeignKeyConstraint"
            ):
                yield from targets
            case ast.Call(func=func) if last_name(func) in {"ForeignKey", "ForeignKeyConstraint"}:
                yield node
            case _:
                pass


def _check_key(table: OrmTable, target: ast.expr, names: dict[str, str], roles: dict[str, str]) -> Iterator[Problem]:
    name = _target_table(target, names)
    if name is None or name not in roles:
        yield table.module.problem(target, f"a foreign key of {table.name} must name its column as 'table.column'")
    elif roles[name] != roles.get(table.name or ""):
        sentence = f"the foreign key from {table.name} to {name} crosses roles: keep the id without a key"
        yield table.module.problem(target, sentence)


def _target_table(target: ast.expr, names: dict[str, str]) -> str | None:
    text = text_of(target)
    if text is not None:
        parts = text.split(".")
        return parts[-2] if len(parts) > 1 else None
    return names.get(last_name(target.value)) if isinstance(target, ast.Attribute) else None


RULES = (
    Rule(
        id="STO-1",
        title="every ORM table has a role and a scope in om/storage/roles.py, and every entry there a table",
        reason="the maps decide the schema, the login and the row policy of a table; one left out has none of them",
        check=_check_maps,
    ),
    Rule(
        id="STO-2",
        title="no foreign key crosses database roles",
        reason="roles may live on different servers, where such a key cannot exist",
        check=_check_keys,
    ),
)
