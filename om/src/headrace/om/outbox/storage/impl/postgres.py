"""Outbox rows over PostgreSQL, and the insert that other namespaces run in their own core transactions."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, override
from uuid import UUID

from sqlalchemy import (
    CTE,
    ColumnElement,
    CursorResult,
    Double,
    Interval,
    Text,
    cast,
    delete,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.dialects.postgresql.dml import Insert
from sqlalchemy.ext.asyncio import AsyncSession

from headrace.om.base import EMPTY_UUID, FrozenMapping
from headrace.om.encoding import storable_text
from headrace.om.outbox.rules import MAX_DOUBLINGS, MAX_ERROR_BYTES, RelayBackoff, encoded_payload
from headrace.om.outbox.storage import MAX_COUNTED, OutboxStorageInterface
from headrace.om.outbox.storage.impl import statements as sql
from headrace.om.outbox.storage.tables.outbox_rows import OutboxRowTable
from headrace.om.outbox.types.outbox_row import OutboxRow, TakenRow, UnreadableRow
from headrace.om.outbox.types.relay_report import OutboxGauges
from headrace.om.storage.database import Database, DriverStatement, Purpose, retried
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.storage.roles import DatabaseRole

TABLE = OutboxRowTable


async def outbox_insert(session: AsyncSession, org_id: UUID, rows: Sequence[OutboxRow]) -> None:
    """Insert rows in the transaction that the session is in, which must be the tenant's and on the core database.

    Rows that the tenant has already stay as they are, so a core write that is tried again lands them once. They
    are seen by the relay when the caller commits, and never when it does not.

    Raises:
        ValidationFailed: A row cannot be stored; nothing was sent to the database.
    """
    if rows:
        await session.execute(_insert(org_id, rows))


class OutboxStoragePostgresImpl(OutboxStorageInterface):
    """Outbox rows in `core.outbox_rows`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def create_row(self, org_id: UUID, row: OutboxRow) -> InsertOutcome:
        statement = _insert(org_id, [row]).returning(TABLE.id)
        async with self._database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
            inserted = await session.scalar(statement)
        return InsertOutcome.ID_EXISTS if inserted is None else InsertOutcome.INSERTED

    @override
    async def take_pending(self, limit: int, hold: timedelta) -> tuple[tuple[UUID, TakenRow], ...]:
        return tuple(await self._take(sql.TAKE_PENDING, EMPTY_UUID, Purpose.CONTROL, limit, hold, sql.MAX_ORGS))

    @override
    async def take_rows(self, org_id: UUID, row_ids: Sequence[UUID], hold: timedelta) -> tuple[TakenRow, ...]:
        taken = await self._take(sql.TAKE_ROWS, org_id, Purpose.MAIN, org_id, hold, list(row_ids))
        return tuple(row for _, row in taken)

    @override
    async def mark_done(self, org_id: UUID, row_ids: Sequence[UUID]) -> int:
        statement = (
            update(TABLE)
            .where(TABLE.org_id == org_id, TABLE.id.in_(row_ids), TABLE.done_at.is_(None))
            .values(done_at=func.now())
        )
        return await self._change(org_id, statement)

    @override
    async def mark_failed(self, org_id: UUID, row_id: UUID, error: str, backoff: RelayBackoff) -> bool:
        statement = (
            update(TABLE)
            .where(TABLE.org_id == org_id, TABLE.id == row_id, TABLE.done_at.is_(None))
            .values(
                num_failures=TABLE.num_failures + 1,
                last_error=storable_text(error, limit_bytes=MAX_ERROR_BYTES),
                available_at=func.now() + _relay_delay(backoff),
            )
        )
        return await self._change(org_id, statement) > 0

    @override
    async def purge_done(self, older_than: timedelta, limit: int) -> int:
        chosen = (
            select(TABLE.org_id, TABLE.id)
            .where(TABLE.done_at.is_not(None), TABLE.done_at < func.now() - _interval(older_than))
            .order_by(TABLE.done_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
            .cte("chosen")
        )
        return await self._change(EMPTY_UUID, delete(TABLE).where(_is_in(chosen)))

    @override
    async def read_gauges(self) -> OutboxGauges:
        pending = TABLE.done_at.is_(None)
        some = select(literal(1)).select_from(TABLE).where(pending).limit(MAX_COUNTED).subquery()
        num_pending = select(func.count()).select_from(some).scalar_subquery()
        oldest = select(func.min(TABLE.recorded_at)).where(pending).scalar_subquery()
        async with self._session(EMPTY_UUID, Purpose.CONTROL) as session:
            counted, lag = (await session.execute(select(num_pending, func.now() - oldest))).one()
        return OutboxGauges(num_pending=counted, lag=max(lag or timedelta(0), timedelta(0)))

    def _session(self, org_id: UUID, purpose: Purpose) -> Any:  # noqa: ANN401 - an async context manager of AsyncSession
        return self._database.session_for(DatabaseRole.CORE, org_id=org_id, purpose=purpose)

    async def _take(
        self, stmt: DriverStatement, org_id: UUID, purpose: Purpose, *args: object
    ) -> list[tuple[UUID, TakenRow]]:
        async with self._database.driver_for(stmt, org_id=org_id, purpose=purpose) as connection:
            found = await connection.fetch(stmt.sql, *args)
        ordered = sorted(found, key=lambda each: (each["due_at"], each["id"]))
        return [(each["org_id"], _row(each)) for each in ordered]

    async def _change(self, org_id: UUID, statement: Any) -> int:  # noqa: ANN401 - an update or a delete
        async def run() -> int:
            async with self._session(org_id, Purpose.CONTROL) as session:
                result: CursorResult[Any] = await session.execute(statement)
                return result.rowcount

        return await retried(run)


def _insert(org_id: UUID, rows: Sequence[OutboxRow]) -> Insert:
    return insert(TABLE).values([_values(org_id, row) for row in rows]).on_conflict_do_nothing()


def _values(org_id: UUID, row: OutboxRow) -> dict[str, Any]:
    payload = encoded_payload(row)
    values = row.model_dump(exclude={"payload"})
    return values | {"org_id": org_id, "payload": cast(literal(payload, Text), JSONB)}


def _row(found: Mapping[str, Any]) -> TakenRow:
    """Return the row as it was written, or as one that cannot be read; never raises."""
    try:
        fields = {name: found[name] for name in OutboxRow.model_fields}
        return OutboxRow.model_validate(fields | {"payload": FrozenMapping(json.loads(found["payload"]))})
    except Exception as error:  # noqa: BLE001 - whatever a row holds, those beside it are handed out
        text = storable_text(f"{type(error).__name__}: {error}", limit_bytes=MAX_ERROR_BYTES)
        return UnreadableRow(id=found["id"], kind=found["kind"], error=text)


def _is_in(chosen: CTE) -> ColumnElement[bool]:
    return (TABLE.org_id == chosen.c.org_id) & (TABLE.id == chosen.c.id)


def _interval(duration: timedelta) -> ColumnElement[timedelta]:
    return literal(duration, Interval)


def _relay_delay(backoff: RelayBackoff) -> ColumnElement[timedelta]:
    """Return `rules.relay_delay` as the statement evaluates it, on the row's count before this failure."""
    doublings = func.least(TABLE.num_failures, MAX_DOUBLINGS)
    seconds = literal(backoff.base.total_seconds(), Double) * func.power(
        literal(2.0, Double), doublings, type_=Double()
    )
    bounded = func.least(seconds, literal(backoff.cap.total_seconds(), Double))
    return func.make_interval(0, 0, 0, 0, 0, 0, bounded, type_=Interval())
