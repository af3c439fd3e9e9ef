"""Audit entries over PostgreSQL."""

from collections.abc import Sequence
from typing import Any, Final, override
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.dml import ReturningInsert

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.storage.tables import AuditEntryRow
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.base import EMPTY_UUID, FrozenMapping
from headrace.om.storage.database import Database, Purpose
from headrace.om.storage.outcomes import InsertOutcome

_FIELDS: Final = tuple(AuditEntry.model_fields)


class AuditStoragePostgresImpl(AuditStorageInterface):
    """Audit entries in `activity.audit_entries`, on which no login may update or delete."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def create_entry(self, org_id: UUID, entry: AuditEntry) -> InsertOutcome:
        statement = _insert([(org_id, entry)])
        async with self._database.session_for(statement, org_id=org_id) as session:
            inserted = (await session.execute(statement)).all()
        return InsertOutcome.INSERTED if inserted else InsertOutcome.ID_EXISTS

    @override
    async def create_entries(self, entries: Sequence[tuple[UUID, AuditEntry]]) -> tuple[InsertOutcome, ...]:
        if not entries:
            return ()
        # In one order everywhere, so that two batches with entries in common never wait for each other in a circle.
        statement = _insert(sorted(entries, key=lambda pair: (pair[0], pair[1].id)))
        async with self._database.session_for(statement, org_id=EMPTY_UUID, purpose=Purpose.CONTROL) as session:
            inserted = {(row.org_id, row.id) for row in await session.execute(statement)}
        is_new = ((org_id, entry.id) in inserted for org_id, entry in entries)
        return tuple(InsertOutcome.INSERTED if each else InsertOutcome.ID_EXISTS for each in is_new)

    @override
    async def read_entries(
        self, org_id: UUID, query: AuditFilter, limit: int, after: UUID | None = None
    ) -> tuple[AuditEntry, ...]:
        statement = _matching(query).where(AuditEntryRow.org_id == org_id)
        statement = statement.order_by(AuditEntryRow.id.desc()).limit(limit)
        if after is not None:
            statement = statement.where(AuditEntryRow.id < after)
        async with self._database.session_for(statement, org_id=org_id) as session:
            return tuple(_entry(row) for row in await session.scalars(statement))


def _insert(entries: Sequence[tuple[UUID, AuditEntry]]) -> ReturningInsert[UUID, UUID]:
    values = [{"org_id": org_id, **_values(entry)} for org_id, entry in entries]
    statement = insert(AuditEntryRow).values(values).on_conflict_do_nothing(index_elements=["org_id", "id"])
    return statement.returning(AuditEntryRow.org_id, AuditEntryRow.id)


def _values(entry: AuditEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in _FIELDS} | {"details": entry.details.thawed()}


def _matching(query: AuditFilter) -> Select[AuditEntryRow]:
    wanted = query.model_dump(exclude_none=True)
    return select(AuditEntryRow).where(*(getattr(AuditEntryRow, name) == value for name, value in wanted.items()))


def _entry(row: AuditEntryRow) -> AuditEntry:
    fields = {name: getattr(row, name) for name in _FIELDS}
    return AuditEntry.model_validate(fields | {"details": FrozenMapping(row.details)})
