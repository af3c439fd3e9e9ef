"""Migrations create tables in the role they belong to, fenced, and no programs."""

from collections.abc import Iterator

from headrace.tools.arch_check.catalog import roles_module, roles_of, scopes_of, table_map
from headrace.tools.arch_check.problems import Problem, Rule
from headrace.tools.arch_check.repository import Repository
from headrace.tools.arch_check.sql import LiveTable, SqlFile, TableName, live_tables, sql_files

_ENABLE = "ENABLE ROW LEVEL SECURITY"
_FORCE = "FORCE ROW LEVEL SECURITY"
_OPENINGS = ("DISABLE ROW LEVEL SECURITY", "NO FORCE ROW LEVEL SECURITY")
# Scopes whose rows carry a tenant.
_FENCED_SCOPES = frozenset({"org", "both"})


def _check_roles(repository: Repository) -> Iterator[Problem]:
    roles = roles_of(repository)
    live = live_tables(sql_files(repository))
    for table in live:
        yield from _check_role(table, roles)
    yield from _check_created(repository, {table.name for table in live})


def _check_role(table: LiveTable, roles: dict[str, str]) -> Iterator[Problem]:
    folder, schema, role = table.file.role, table.created.schema, roles.get(table.name)
    if role != folder:
        expected = f"under sql/{role}/" if role else "in TABLE_ROLES"
        yield _problem(table, f"the table {table.name} is created under sql/{folder}/, but belongs {expected}")
    elif schema not in {None, folder}:
        yield _problem(table, f"the table {table.name} is created in the schema {schema}, expected {folder}")


def _check_created(repository: Repository, live: set[str]) -> Iterator[Problem]:
    entries, module = table_map(repository, "TABLE_ROLES"), roles_module(repository)
    if entries is None or module is None:
        return
    for name in sorted(entries.values.keys() - live):
        yield module.problem(entries.lines[name], f"TABLE_ROLES names {name}, but no migration creates it")


def _check_programs(repository: Repository) -> Iterator[Problem]:
    for file in sql_files(repository):
        for line, sort in file.programs():
            yield Problem(file.path, line, f"creates a {sort}: the database runs no code of ours")


def _check_references(repository: Repository) -> Iterator[Problem]:
    files = sql_files(repository)
    homes = {created.table: file.role for file in files if file.is_up for created in file.created()}
    homes.update(roles_of(repository))
    for file in files:
        for target in file.referenced():
            yield from _check_reference(file, target, homes)


def _check_reference(file: SqlFile, target: TableName, homes: dict[str, str]) -> Iterator[Problem]:
    home = target.schema or homes.get(target.table)
    if home is None:
        yield Problem(file.path, target.line, f"references {target.table}, which no migration creates")
    elif home != file.role:
        sentence = f"references {target.table} of the role {home} from {file.role}: keep the id without a key"
        yield Problem(file.path, target.line, sentence)


def _check_fences(repository: Repository) -> Iterator[Problem]:
    scopes = scopes_of(repository)
    files = sql_files(repository)
    for table in live_tables(files):
        if scopes.get(table.name) in _FENCED_SCOPES:
            yield from (_problem(table, sentence) for sentence in _missing_fences(table))
            yield from _opened_fences(table, files)


def _missing_fences(table: LiveTable) -> Iterator[str]:
    file, name = table.file, table.created.table
    for action in (_ENABLE, _FORCE):
        if not file.altered(name, action):
            yield f"the tenant table {name} needs ALTER TABLE {name} {action} in the file that creates it"
    if not file.has_policy(name):
        yield f"the tenant table {name} needs a CREATE POLICY in the file that creates it"


def _opened_fences(table: LiveTable, files: list[SqlFile]) -> Iterator[Problem]:
    for file in files:
        for action in _OPENINGS if file.is_up and file.role == table.file.role else ():
            sentence = f"{action} takes the fence of the tenant table {table.name} down"
            yield from (Problem(file.path, line, sentence) for line in file.altered(table.name, action))


def _problem(table: LiveTable, sentence: str) -> Problem:
    return Problem(table.file.path, table.created.line, sentence)


RULES = (
    Rule(
        id="MIG-1",
        title="a table is created by the migrations of its role, and every table of the map by one",
        reason="a table in another role's chain lands on the wrong server once the roles part",
        check=_check_roles,
    ),
    Rule(
        id="MIG-2",
        title="migrations create no trigger, function, procedure or rule",
        reason="code in the database is neither reviewed, typed nor rolled out with the release it belongs to",
        check=_check_programs,
    ),
    Rule(
        id="MIG-3",
        title="migrations reference no table of another role",
        reason="roles may live on different servers, where such a key cannot exist",
        check=_check_references,
    ),
    Rule(
        id="MIG-4",
        title="the file that creates a tenant table enables and forces row level security on it, with a policy",
        reason="without FORCE the owner passes the policy, and between two files every tenant sees every row",
        check=_check_fences,
    ),
)
