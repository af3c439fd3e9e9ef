"""The hand-written SQL of the migrations: where it is, and how a revision's wrapper runs it."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from alembic import op
from alembic.config import Config
from sqlalchemy import Connection, text

from headrace.om.exceptions import PreconditionFailed
from headrace.om.storage.roles import DatabaseRole

_INDEX_NAME: Final = re.compile(
    r"\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)", re.IGNORECASE
)
_COMMENT: Final = re.compile(r"--[^\n]*")


@dataclass(frozen=True, slots=True)
class MigrationLimits:
    """What bounds a migration.

    Attributes:
        lock_timeout: How long one DDL statement may wait for a lock, and so hold up those who queue behind it.
        statement_timeout: How long one statement may run; building an index on a large table takes long.
        turn_timeout: How long to wait while another process migrates the same database.
    """

    lock_timeout: timedelta = field(default=timedelta(seconds=5))
    statement_timeout: timedelta = field(default=timedelta(minutes=30))
    turn_timeout: timedelta = field(default=timedelta(minutes=30))

    def settings(self) -> dict[str, str]:
        """Return the PostgreSQL settings of a transaction that migrates, in milliseconds."""
        return {
            "lock_timeout": _milliseconds(self.lock_timeout),
            "statement_timeout": _milliseconds(self.statement_timeout),
        }


@dataclass(frozen=True, slots=True)
class MigrationRun:
    """What a run of one role's chain has at hand; Alembic's environment carries it to the wrappers."""

    connection: Connection
    role: DatabaseRole
    limits: MigrationLimits
    source: Path


def alembic_config(run: MigrationRun) -> Config:
    """Return Alembic's configuration for the chain of one role, over the run's connection."""
    config = _config(run.role, run.source)
    config.attributes["run"] = run
    return config


def run_up(wrapper: str) -> None:
    """Run the `.up.sql` of a wrapper in the revision's transaction, all of it or nothing.

    Args:
        wrapper: The wrapper's own `__file__`.
    """
    _run_in_transaction(_script(wrapper, "up"))


def run_down(wrapper: str) -> None:
    """Run the `.down.sql` of a wrapper in the revision's transaction, all of it or nothing."""
    _run_in_transaction(_script(wrapper, "down"))


def run_concurrently(wrapper: str, direction: str = "up") -> None:
    """Run a script whose statements build or drop indexes CONCURRENTLY, each outside of any transaction.

    An invalid index that an interrupted run left under the same name is dropped first, so a second run repairs
    the first. Afterwards every index that the script names is valid.

    Args:
        wrapper: The wrapper's own `__file__`.
        direction: `up` or `down`.

    Raises:
        PreconditionFailed: An index is invalid after all; the revision is not recorded.
    """
    script = _script(wrapper, direction)
    run = _run()
    names = _INDEX_NAME.findall(script)
    with op.get_context().autocommit_block():
        for name in _invalid(run, names):
            op.execute(f"DROP INDEX CONCURRENTLY {run.role}.{name}")
        for statement in _statements(script):
            op.execute(statement)
        if left := _invalid(run, names):
            raise PreconditionFailed(f"indexes of {run.role} are invalid: {', '.join(left)}; run the migration again")


def set_locally(connection: Connection, limits: MigrationLimits) -> None:
    """Bound the statements of the connection's present transaction; nothing of it outlives the transaction."""
    calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in limits.settings().items())
    connection.execute(text(f"SELECT {calls}"))


def _config(role: DatabaseRole, source: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", _escaped(source))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", _escaped(source / "versions" / role))
    return config


def _run_in_transaction(script: str) -> None:
    connection = op.get_bind()
    set_locally(connection, _run().limits)
    driver = connection.connection.dbapi_connection
    # The driver's simple protocol takes the whole script; SQLAlchemy prepares, which takes one statement only.
    driver.run_async(lambda raw: raw.execute(script))  # type: ignore[union-attr]  # asyncpg's adapter has it


def _run() -> MigrationRun:
    config = op.get_context().config
    run = None if config is None else config.attributes.get("run")
    if not isinstance(run, MigrationRun):
        raise PreconditionFailed("migrations run through headrace.om.storage.migrations only")
    return run


def _script(wrapper: str, direction: str) -> str:
    path = Path(wrapper)
    return (path.parents[2] / "sql" / path.parent.name / f"{path.stem}.{direction}.sql").read_text(encoding="utf-8")


def _statements(script: str) -> list[str]:
    return [each.strip() for each in _COMMENT.sub("", script).split(";") if each.strip()]


def _invalid(run: MigrationRun, names: list[str]) -> list[str]:
    found = op.get_bind().execute(
        text(
            "SELECT class.relname FROM pg_index AS index JOIN pg_class AS class ON class.oid = index.indexrelid"
            " JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace"
            " WHERE namespace.nspname = :schema AND class.relname = ANY(:names) AND NOT index.indisvalid"
        ),
        {"schema": str(run.role), "names": names},
    )
    return list(found.scalars())


def _escaped(path: Path) -> str:
    """Return a path as the configuration parser takes it: a percent sign would begin an interpolation."""
    return str(path).replace("%", "%%")


def _milliseconds(duration: timedelta) -> str:
    return str(max(1, round(duration.total_seconds() * 1000)))
