"""The migration check: the tables of the object model are those of the schema, and the newest revisions can go back."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pkgutil import resolve_name, walk_packages
from typing import Any, Final

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, Connection, MetaData, Table, text

from headrace.om.exceptions import PreconditionFailed
from headrace.om.storage.migrations import downgrade, migrate, migration_engine
from headrace.om.storage.options import DatabaseOptions
from headrace.om.storage.roles import DatabaseRole
from headrace.om.storage.tables import Table as OrmTable

# Indexes, keys, checks and defaults are the migrations' alone: the object model does not repeat them.
_COMPARED: Final = frozenset(
    {"add_table", "remove_table", "add_column", "remove_column", "modify_nullable", "modify_type"}
)

_SNAPSHOT: Final = text("""
    SELECT 'column ' || table_name || '.' || column_name AS name,
        concat_ws(' ', udt_name, is_nullable, column_default) AS is_what
    FROM information_schema.columns WHERE table_schema = :schema
    UNION ALL
    SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = :schema
    UNION ALL
    SELECT 'constraint ' || conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = to_regnamespace(:schema)
    UNION ALL
    SELECT 'policy ' || tablename || '.' || policyname, concat_ws(' ', roles::text, cmd, qual, with_check)
    FROM pg_policies WHERE schemaname = :schema
    UNION ALL
    SELECT 'table ' || relname, concat_ws(' ', relrowsecurity, relforcerowsecurity, relacl::text, reloptions::text)
    FROM pg_class WHERE relnamespace = to_regnamespace(:schema) AND relkind = 'r'
""")


async def schema_differences(options: DatabaseOptions) -> tuple[str, ...]:
    """Return in which tables and columns the object model and a migrated database differ; empty when they agree.

    Raises:
        PreconditionFailed: There is no migration login.
    """
    found: list[str] = []
    for role in DatabaseRole:
        found.extend(await _inspect(options, role, _differences))
    return tuple(found)


async def check_migrations(options: DatabaseOptions) -> tuple[str, ...]:
    """Migrate an empty database, go back and forth over each role's newest revision, and compare what is there.

    Only for a database to throw away: going back drops what the newest revisions made.

    Returns:
        One sentence for everything that is wrong; empty when the migrations are good.

    Raises:
        PreconditionFailed: A table holds rows, or there is no migration login; nothing was changed.
    """
    await _refuse_rows(options)
    await migrate(options)
    problems = list(await schema_differences(options))
    for role in DatabaseRole:
        before = await _inspect(options, role, _snapshot)
        await downgrade(options, role=role)
        await migrate(options, role=role)
        problems.extend(_changed(role, before, await _inspect(options, role, _snapshot)))
    return tuple(problems)


async def _inspect[Result](
    options: DatabaseOptions, role: DatabaseRole, look: Callable[[Connection, DatabaseRole], Result]
) -> Result:
    async with migration_engine(options, role) as engine, engine.connect() as connection:
        return await connection.run_sync(look, role)


def _differences(connection: Connection, role: DatabaseRole) -> list[str]:
    def is_ours(name: str | None, kind: str, _: object) -> bool:
        return name == role if kind == "schema" else name != "alembic_version"

    context = MigrationContext.configure(connection, opts={"include_schemas": True, "include_name": is_ours})
    found = (
        step for each in compare_metadata(context, _of(role)) for step in (each if isinstance(each, list) else [each])
    )
    return [f"schema {role}: {_sentence(step)}" for step in found if step[0] in _COMPARED]


def _of(role: DatabaseRole) -> MetaData:
    """Return the tables of one role: the others are in schemas that are not looked at."""
    _import_tables()
    part = MetaData()
    for table in OrmTable.metadata.sorted_tables:
        if table.schema == role:
            table.to_metadata(part)
    return part


def _import_tables() -> None:
    """Import the tables of every namespace, which is how the metadata gets to know them."""
    root = resolve_name("headrace.om")
    for module in walk_packages(root.__path__, f"{root.__name__}."):
        if ".storage.tables." in module.name:
            import_module(module.name)


def _sentence(step: Sequence[Any]) -> str:
    """Return a step that would bring the schema to the object model, in words."""
    names = (part.name if isinstance(part, Table | Column) else part for part in step)
    return " ".join(str(name) for name in names if not isinstance(name, dict | None))


def _snapshot(connection: Connection, role: DatabaseRole) -> dict[str, str]:
    rows = connection.execute(_SNAPSHOT, {"schema": str(role)})
    return {row.name: row.is_what for row in rows}


def _changed(role: DatabaseRole, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [
        f"schema {role}: {name} was {before.get(name, 'absent')} and is {after.get(name, 'absent')}"
        " after the newest revision went back and forth"
        for name in names
    ]


async def _refuse_rows(options: DatabaseOptions) -> None:
    """Refuse a database in which any table ever held a row: no login sees rows here, but their pages show."""
    for role in DatabaseRole:
        if filled := await _inspect(options, role, _filled):
            raise PreconditionFailed(
                f"the migration check drops tables: expected an empty database, {filled} holds rows"
            )


def _filled(connection: Connection, role: DatabaseRole) -> str | None:
    found: str | None = connection.scalar(
        text(
            "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = to_regnamespace(:schema)"
            " AND relkind = 'r' AND relname <> 'alembic_version' AND pg_relation_size(oid) > 0 LIMIT 1"
        ),
        {"schema": str(role)},
    )
    return found
