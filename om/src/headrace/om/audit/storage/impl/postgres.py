"""Audit entries over PostgreSQL."""

from typing import Final, override
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.storage.tables import AuditEntryRow
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.base import FrozenMapping
from headrace.om.storage.database import Database
from headrace.om.storage.outcomes import InsertOutcome

_FIELDS: Final = tuple(AuditEntry.model_fields)


class AuditStoragePostgresImpl(AuditStorageInterface):
    """Audit entries in `activity.audit_entries`, on which no login may update or delete."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def create_entry(self, org_id: UUID, entry: AuditEntry) -> InsertOutcome:
        values = {name: getattr(entry, name) for name in _FIELDS} | {"details": entry.details.thawed()}
        statement = (
            insert(AuditEntryRow)
            .values(org_id=org_id, **values)
            .on_conflict_do_nothing(index_elements=["org_id", "id"])
            .returning(AuditEntryRow.id)
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            inserted = await session.scalar(statement)
        return InsertOutcome.ID_EXISTS if inserted is None else InsertOutcome.INSERTED

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


def _matching(query: AuditFilter) -> Select[AuditEntryRow]:
    wanted = query.model_dump(exclude_none=True)
    return select(AuditEntryRow).where(*(getattr(AuditEntryRow, name) == value for name, value in wanted.items()))


def _entry(row: AuditEntryRow) -> AuditEntry:
    fields = {name: getattr(row, name) for name in _FIELDS}
    return AuditEntry.model_validate(fields | {"details": FrozenMapping(row.details)})
