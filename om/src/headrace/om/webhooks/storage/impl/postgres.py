"""Webhook endpoints and messages over PostgreSQL."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, override
from uuid import UUID

from sqlalchemy import ColumnElement, Interval, delete, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.dml import ReturningDelete, ReturningInsert

from headrace.om.base import EMPTY_UUID, Identifiable
from headrace.om.outbox.storage.impl.postgres import outbox_insert
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.database import Database, Purpose
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.storage.roles import DatabaseRole
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.webhooks.storage.tables.webhook_endpoints import WebhookEndpointRow
from headrace.om.webhooks.storage.tables.webhook_messages import WebhookMessageRow
from headrace.om.webhooks.types.delivery import FailureCount
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import WebhookMessage, WebhookMessageHead

_UNCHANGING: Final = {"id", "created_at", "created_by"}


class WebhooksStoragePostgresImpl(WebhooksStorageInterface):
    """Rows of `core.webhook_endpoints` and `core.webhook_messages`, with outbox rows beside them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def create_endpoint(
        self, org_id: UUID, endpoint: WebhookEndpoint, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        return await self._create(org_id, _insert(WebhookEndpointRow, org_id, endpoint), rows)

    @override
    async def count_endpoints(self, org_id: UUID) -> int:
        statement = select(func.count()).select_from(WebhookEndpointRow).where(WebhookEndpointRow.org_id == org_id)
        async with self._database.session_for(statement, org_id=org_id) as session:
            return (await session.scalars(statement)).one()

    @override
    async def read_endpoint(self, org_id: UUID, endpoint_id: UUID) -> WebhookEndpoint | None:
        where = WebhookEndpointRow.id == endpoint_id
        return next(iter(await self._endpoints(org_id, where, limit=1)), None)

    @override
    async def read_endpoints(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[WebhookEndpoint, ...]:
        where = literal(value=True) if after is None else WebhookEndpointRow.id > after
        return await self._endpoints(org_id, where, limit)

    @override
    async def read_endpoints_wanting(self, org_id: UUID, event_type: str, limit: int) -> tuple[WebhookEndpoint, ...]:
        """The filter is `WebhookEndpoint.wants`, spelled for the statement; a contract case holds it to that."""
        has_no_filter = func.cardinality(WebhookEndpointRow.event_types) == 0
        wants = or_(has_no_filter, WebhookEndpointRow.event_types.contains([event_type]))
        return await self._endpoints(org_id, WebhookEndpointRow.enabled & wants, limit)

    @override
    async def write_endpoint(
        self, org_id: UUID, endpoint: WebhookEndpoint, expected_version: int, rows: Sequence[OutboxRow]
    ) -> bool:
        statement = (
            update(WebhookEndpointRow)
            .where(_is_at(org_id, endpoint.id, expected_version))
            .values(_values(endpoint, without=_UNCHANGING))
            .returning(WebhookEndpointRow.id)
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            if (await session.execute(statement)).one_or_none() is None:
                return False
            await outbox_insert(session, org_id, rows)
        return True

    @override
    async def count_failure(self, org_id: UUID, endpoint_id: UUID, expected_version: int) -> FailureCount | None:
        row = WebhookEndpointRow
        statement = (
            update(row)
            .where(_is_at(org_id, endpoint_id, expected_version), row.enabled)
            .values(
                num_consecutive_failures=row.num_consecutive_failures + 1,
                failing_since=func.coalesce(row.failing_since, func.now()),
                version=row.version + 1,
                updated_at=func.now(),
                updated_by=EMPTY_UUID,
            )
            .returning(*_ENDPOINT_COLUMNS, (func.now() - row.failing_since).label("failing_for"))
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            found = (await session.execute(statement)).one_or_none()
        if found is None:
            return None
        fields = found._asdict()
        failing_for = fields.pop("failing_for")
        return FailureCount(endpoint=WebhookEndpoint.model_validate(fields), failing_for=failing_for)

    @override
    async def create_message(self, org_id: UUID, message: WebhookMessage, rows: Sequence[OutboxRow]) -> InsertOutcome:
        return await self._create(org_id, _insert(WebhookMessageRow, org_id, message), rows)

    @override
    async def read_message(self, org_id: UUID, message_id: UUID) -> WebhookMessage | None:
        row = WebhookMessageRow
        statement = select(*_HEAD_COLUMNS, row.body).where(row.org_id == org_id, row.id == message_id)
        async with self._database.session_for(statement, org_id=org_id) as session:
            found = (await session.execute(statement)).one_or_none()
        return None if found is None else WebhookMessage.model_validate(found._asdict())

    @override
    async def read_messages(
        self, org_id: UUID, limit: int, after: UUID | None = None
    ) -> tuple[WebhookMessageHead, ...]:
        row = WebhookMessageRow
        statement = select(*_HEAD_COLUMNS).where(row.org_id == org_id).order_by(row.id.desc()).limit(limit)
        if after is not None:
            statement = statement.where(row.id < after)
        async with self._database.session_for(statement, org_id=org_id) as session:
            found = (await session.execute(statement)).all()
        return tuple(WebhookMessageHead.model_validate(each._asdict()) for each in found)

    @override
    async def purge_messages(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        row = WebhookMessageRow
        old = row.recorded_at < func.now() - literal(older_than, Interval)
        oldest = select(row.id).where(row.org_id == org_id, old).order_by(row.recorded_at).limit(limit)
        chosen = oldest.with_for_update(skip_locked=True).cte("chosen")
        gone = delete(row).where(row.org_id == org_id, row.id == chosen.c.id).returning(row.id)
        return await self._delete(org_id, gone)

    @override
    async def purge_endpoints(self, org_id: UUID, limit: int) -> int:
        row = WebhookEndpointRow
        some = select(row.id).where(row.org_id == org_id).order_by(row.id).limit(limit)
        chosen = some.with_for_update().cte("chosen")
        gone = delete(row).where(row.org_id == org_id, row.id == chosen.c.id).returning(row.id)
        return await self._delete(org_id, gone)

    async def _delete(self, org_id: UUID, statement: ReturningDelete[UUID]) -> int:
        async with self._database.session_for(statement, org_id=org_id, purpose=Purpose.CONTROL) as session:
            return len((await session.execute(statement)).all())

    async def _create(self, org_id: UUID, statement: ReturningInsert[UUID], rows: Sequence[OutboxRow]) -> InsertOutcome:
        async with self._database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
            if (await session.execute(statement)).one_or_none() is None:
                return InsertOutcome.ID_EXISTS
            await outbox_insert(session, org_id, rows)
        return InsertOutcome.INSERTED

    async def _endpoints(self, org_id: UUID, where: ColumnElement[bool], limit: int) -> tuple[WebhookEndpoint, ...]:
        row = WebhookEndpointRow
        statement = select(*_ENDPOINT_COLUMNS).where(row.org_id == org_id, where).order_by(row.id).limit(limit)
        async with self._database.session_for(statement, org_id=org_id) as session:
            found = (await session.execute(statement)).all()
        return tuple(WebhookEndpoint.model_validate(each._asdict()) for each in found)


_ENDPOINT_COLUMNS: Final = tuple(getattr(WebhookEndpointRow, name) for name in WebhookEndpoint.model_fields)
_HEAD_COLUMNS: Final = tuple(getattr(WebhookMessageRow, name) for name in WebhookMessageHead.model_fields)


def _insert(
    table: type[WebhookEndpointRow | WebhookMessageRow], org_id: UUID, entity: Identifiable
) -> ReturningInsert[UUID]:
    values = _values(entity, without=set()) | {"org_id": org_id}
    return insert(table).values(values).on_conflict_do_nothing().returning(table.id)


def _values(entity: Identifiable, *, without: set[str]) -> dict[str, Any]:
    fields = {name: getattr(entity, name) for name in type(entity).model_fields if name not in without}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _is_at(org_id: UUID, endpoint_id: UUID, version: int) -> ColumnElement[bool]:
    row = WebhookEndpointRow
    return (row.org_id == org_id) & (row.id == endpoint_id) & (row.version == version)
