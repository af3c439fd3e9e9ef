"""What the schemas are at, what is pending, and bringing them up to date."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from headrace.om.storage.migrations import current_revisions, migrate
from headrace.om.storage.options import database_options
from headrace.om.storage.revisions import migrations_directory
from headrace.om.storage.roles import DatabaseRole
from headrace.om.storage.schema_check import schema_differences
from headrace.workers.console.settings import ConsoleSettings


class SchemaState(StrEnum):
    """How a schema stands to this version."""

    CURRENT = "current"
    PENDING = "pending"
    NEWER = "newer"
    """At a revision that this version does not know."""


@dataclass(frozen=True, slots=True)
class RoleSchema:
    """One role's schema.

    Attributes:
        role: The role.
        revision: What it is at; None where it was never migrated.
        pending: The revisions still to run, in the order of running.
        state: What that comes to.
    """

    role: str
    revision: str | None
    pending: tuple[str, ...]
    state: SchemaState


async def read_schemas(settings: ConsoleSettings) -> tuple[RoleSchema, ...]:
    """Return every role's schema as it stands; changes nothing.

    Raises:
        PreconditionFailed: The settings have no migration login.
        Unavailable: The database cannot be reached.
    """
    found = await current_revisions(database_options(settings))
    return tuple(_schema(role, revision) for role, revision in found.items())


async def read_differences(settings: ConsoleSettings, schemas: Sequence[RoleSchema]) -> tuple[str, ...]:
    """Return in which tables and columns a database that is up to date differs from the code; empty when they agree.

    Empty too while anything is pending or newer: such a schema is another one.
    """
    if any(schema.state is not SchemaState.CURRENT for schema in schemas):
        return ()
    return await schema_differences(database_options(settings))


async def migrate_all(settings: ConsoleSettings, tell: Callable[[Sequence[str], int], None]) -> tuple[RoleSchema, ...]:
    """Bring every role's schema to the newest revision; return them as they stand then.

    Args:
        settings: Where the databases are.
        tell: Called before each role with all roles' names and the position of the one that is next, and in the
            end with the number of roles.

    Raises:
        PreconditionFailed, Unavailable: See `headrace.om.storage.migrations.migrate`; roles before it are migrated.
    """
    options, names = database_options(settings), tuple(str(role) for role in DatabaseRole)
    for position, role in enumerate(DatabaseRole):
        tell(names, position)
        await migrate(options, role=role)
    tell(names, len(names))
    return await read_schemas(settings)


def _schema(role: DatabaseRole, revision: str | None) -> RoleSchema:
    known = _known_revisions(role)
    if revision is not None and revision not in known:
        return RoleSchema(role, revision, (), SchemaState.NEWER)
    pending = known if revision is None else known[known.index(revision) + 1 :]
    return RoleSchema(role, revision, pending, SchemaState.PENDING if pending else SchemaState.CURRENT)


def _known_revisions(role: DatabaseRole) -> tuple[str, ...]:
    """Return the revisions of a role's chain, oldest first: stamps of time, the first part of a file's name."""
    files = (migrations_directory() / "versions" / role).glob("[0-9]*_*.py")
    return tuple(sorted(file.stem.partition("_")[0] for file in files))
