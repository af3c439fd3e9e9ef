"""Which revision a schema is at and which one this code was written for; every process asks when it starts.

Reads names of files and one row, so that a worker needs none of the tools that migrate.
"""

from importlib import resources
from pathlib import Path

from sqlalchemy import Connection, text

from headrace.om.exceptions import PreconditionFailed
from headrace.om.storage.database import Database
from headrace.om.storage.roles import DatabaseRole


class SchemaMismatch(PreconditionFailed):
    """The database's schema is not the one that this process was written for; it must not touch it."""

    code = "schema_mismatch"


def migrations_directory() -> Path:
    """Return the folder of the migrations: in an installed wheel within the package, in the source tree beside `src`.

    Raises:
        PreconditionFailed: Neither is there; the sentence names both.
    """
    package = Path(str(resources.files("headrace.om")))
    installed, source = package / "migrations", package.parents[2] / "migrations"
    for candidate in (installed, source):
        if (candidate / "env.py").is_file():
            return candidate
    raise PreconditionFailed(f"the migrations are neither in {installed} nor in {source}: expected the whole package")


def newest_revision(role: DatabaseRole, source: Path | None = None) -> str | None:
    """Return the newest revision that there is for a role; None where there is none.

    Revisions are stamps of time and each is the first part of its file's name; that a chain has one end is the
    arch check's to see.

    Args:
        role: The role.
        source: The folder of the migrations; this code's own when None.
    """
    wrappers = ((source or migrations_directory()) / "versions" / role).glob("[0-9]*_*.py")
    return max((wrapper.stem.partition("_")[0] for wrapper in wrappers), default=None)


async def refuse_newer_schema(database: Database) -> None:
    """Return when every schema is at exactly the revision that this code knows; for processes at boot.

    Raises:
        SchemaMismatch: A schema is newer than this code knows, or older than it needs; the sentence names both
            revisions and what to do.
        Unavailable: The database cannot be reached, so nothing is known.
    """
    for role in DatabaseRole:
        async with database.session_for(role) as session:
            found = await (await session.connection()).run_sync(read_revision, role)
        refuse_other_revision(role, found=found, known=newest_revision(role))


def refuse_other_revision(role: DatabaseRole, *, found: str | None, known: str | None) -> None:
    """Return when a schema is at exactly the revision that this code knows.

    Raises:
        SchemaMismatch: It is older or newer; the sentence names both revisions and what to do.
    """
    if found == known:
        return
    if found is None or (known is not None and found < known):
        raise SchemaMismatch(
            f"schema {role} is at revision {found or 'none'}, older than {known}, which this version needs:"
            " run the migrations first"
        )
    raise SchemaMismatch(
        f"schema {role} is at revision {found}, newer than {known or 'none'}, the newest that this version knows:"
        " start a version at least as new as the schema"
    )


def read_revision(connection: Connection, role: DatabaseRole) -> str | None:
    """Return the revision that a role's schema is at; None where it was never migrated."""
    if not connection.scalar(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": f"{role}.alembic_version"}):
        return None
    revision: str | None = connection.scalar(text(f"SELECT version_num FROM {role}.alembic_version"))  # noqa: S608 - the role is one of an enum
    return revision
