"""The queue over PostgreSQL, on the driver's own connection."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, override
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import Unavailable
from headrace.om.storage.database import Database, DriverStatement, Purpose
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.rules import LEASE_PASSED_ERROR, STAGGER_CAP, STAGGER_STEP, TENANT_GONE_ERROR
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl import statements as sql
from headrace.om.work.storage.impl.rows import insert_columns, item_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow, CreatedItem, WorkCount, WorkFilter, WorkGauges, WorkStatusReport
from headrace.om.work.types.settlement import Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus

CONTROL: Final = Purpose.CONTROL

MAX_INSERT_TRIES: Final = 3
"""How often an insert is tried whose id or key was taken by a row that is gone a moment later."""


class WorkStoragePostgresImpl(WorkStorageInterface):
    """Every method one statement; claims, settlements, renewals and the sweep have connections of their own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _rows(
        self,
        stmt: DriverStatement,
        org_id: UUID,
        *args: Any,  # noqa: ANN401 - the driver takes values of any type
        purpose: Purpose = Purpose.MAIN,
    ) -> list[asyncpg.Record]:
        """Run one tenant's statement, whose first parameter is the tenant."""
        async with self._database.driver_for(stmt, org_id=org_id, purpose=purpose) as connection:
            return await connection.fetch(stmt.sql, org_id, *args)

    async def _rows_across(
        self,
        stmt: DriverStatement,
        *args: Any,  # noqa: ANN401 - likewise
    ) -> list[asyncpg.Record]:
        """Run one of the enumerated statements across tenants, under the system scope."""
        async with self._database.driver_for(stmt, org_id=EMPTY_UUID, purpose=CONTROL) as connection:
            return await connection.fetch(stmt.sql, *args)

    @override
    async def create_item(self, org_id: UUID, item: WorkItem) -> InsertOutcome:
        return (await self.create_items(org_id, (item,)))[0].outcome

    @override
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        inserted: set[UUID] = set()
        taken: dict[UUID | str, UUID] = {}
        left = list(items)
        for _ in range(MAX_INSERT_TRIES):
            inserted |= {row["id"] for row in await self._rows(sql.CREATE_ITEMS, org_id, *insert_columns(left))}
            left = [item for item in left if item.id not in inserted]
            taken |= await self._taken(org_id, left)
            # A row that was in the way and is gone by now holds nothing back.
            left = [item for item in left if item.id not in taken and item.idempotency_key not in taken]
            if not left:
                return tuple(_created(item, inserted, taken) for item in items)
        raise Unavailable("ids or keys of these items come and go; enqueue them again")

    async def _taken(self, org_id: UUID, items: Sequence[WorkItem]) -> dict[UUID | str, UUID]:
        """Return which row has each of the items' ids and keys."""
        if not items:
            return {}
        keys = [item.idempotency_key for item in items if item.idempotency_key is not None]
        rows = await self._rows(sql.FIND_TAKEN, org_id, [item.id for item in items], keys)
        taken: dict[UUID | str, UUID] = {row["idempotency_key"]: row["id"] for row in rows}
        return taken | {row["id"]: row["id"] for row in rows}

    @override
    async def read_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return _first(await self._rows(sql.READ_ITEM, org_id, item_id))

    @override
    async def read_item_by_key(self, org_id: UUID, idempotency_key: str) -> WorkItem | None:
        return _first(await self._rows(sql.READ_ITEM_BY_KEY, org_id, idempotency_key))

    @override
    async def read_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        narrowed = (where.status, where.kind, where.lane, where.origin, where.started_before, where.has_error)
        rows = await self._rows(sql.READ_ITEMS, org_id, after, *narrowed, limit)
        return tuple(item_of(row) for row in rows)

    @override
    async def read_status(self, org_id: UUID) -> WorkStatusReport:
        rows = await self._rows(sql.READ_COUNTS, org_id)
        waits = [row["oldest_waiting"] for row in rows if row["oldest_waiting"] is not None]
        return WorkStatusReport(counts=tuple(_count_of(row) for row in rows), oldest_waiting=max(waits, default=None))

    @override
    async def cancel_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return _first(await self._rows(sql.CANCEL_ITEM, org_id, item_id))

    @override
    async def retry_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return _first(await self._rows(sql.RETRY_ITEM, org_id, item_id))

    @override
    async def delete_item(self, org_id: UUID, item_id: UUID) -> bool:
        return bool(await self._rows(sql.DELETE_ITEM, org_id, item_id))

    @override
    async def claim_next(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> ClaimedRow | None:
        claimed = await self.claim_batch(lane, kinds, worker_id, lease, 1)
        return claimed[0] if claimed else None

    @override
    async def claim_batch(
        self, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int
    ) -> tuple[ClaimedRow, ...]:
        names = sorted({kind.value for kind in kinds})
        rows = await self._rows_across(sql.claim_statement(limit), lane, names, worker_id, lease)
        claimed = (ClaimedRow.model_construct(org_id=row["org_id"], item=item_of(row)) for row in rows)
        return tuple(sorted(claimed, key=_claim_order))

    @override
    async def write_item(self, org_id: UUID, settlement: Settlement) -> Settled:
        columns = _settle_columns([(org_id, settlement)])
        async with self._database.driver_for(sql.SETTLE_BATCH, org_id=org_id, purpose=CONTROL) as connection:
            rows = await connection.fetch(sql.SETTLE_BATCH.sql, *columns)
        return Settled(item_id=settlement.item_id, status=WorkStatus(rows[0]["status"]) if rows else None)

    @override
    async def settle_batch(self, settlements: Sequence[tuple[UUID, Settlement]]) -> tuple[Settled, ...]:
        # In one order everywhere, so that two batches never wait for each other in a circle.
        ordered = sorted(settlements, key=lambda pair: (pair[0], pair[1].item_id))
        rows = await self._rows_across(sql.SETTLE_BATCH, *_settle_columns(ordered))
        # By token: an id may be another tenant's as well, and an item's stale token may stand beside its present one.
        status = {row["token"]: WorkStatus(row["status"]) for row in rows}
        return tuple(Settled(item_id=each.item_id, status=status.get(each.claim_token)) for _, each in settlements)

    @override
    async def extend_lease(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        columns = ([org_id], [renewal.item_id], [renewal.claim_token], lease)
        async with self._database.driver_for(sql.EXTEND_LEASES, org_id=org_id, purpose=CONTROL) as connection:
            rows = await connection.fetch(sql.EXTEND_LEASES.sql, *columns)
        return _renewed(rows[0]) if rows else None

    @override
    async def extend_leases(self, renewals: Sequence[tuple[UUID, Renewal]], lease: timedelta) -> tuple[Renewed, ...]:
        ordered = sorted(renewals, key=lambda pair: (pair[0], pair[1].item_id))
        rows = await self._rows_across(
            sql.EXTEND_LEASES,
            [org_id for org_id, _ in ordered],
            [each.item_id for _, each in ordered],
            [each.claim_token for _, each in ordered],
            lease,
        )
        return tuple(_renewed(row) for row in rows)

    @override
    async def write_progress(self, org_id: UUID, renewal: Renewal, progress: float, note: str) -> bool:
        args = (renewal.item_id, renewal.claim_token, progress, note)
        return bool(await self._rows(sql.WRITE_PROGRESS, org_id, *args, purpose=CONTROL))

    @override
    async def requeue_stale(
        self, org_id: UUID, overdue: timedelta, limit: int, *, max_crashes: int
    ) -> tuple[WorkItem, ...]:
        args = (overdue, limit, max_crashes, STAGGER_STEP, STAGGER_CAP, LEASE_PASSED_ERROR)
        return tuple(item_of(row) for row in await self._rows(sql.REQUEUE_STALE, org_id, *args, purpose=CONTROL))

    @override
    async def read_stale_orgs(self, limit: int) -> tuple[UUID, ...]:
        return tuple(row["org_id"] for row in await self._rows_across(sql.READ_STALE_ORGS, limit))

    @override
    async def read_orgs(self, limit: int, after: UUID | None = None) -> tuple[UUID, ...]:
        return tuple(row["org_id"] for row in await self._rows_across(sql.READ_ORGS, limit, after or EMPTY_UUID))

    @override
    async def purge_items(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        return len(await self._rows(sql.PURGE_ITEMS, org_id, older_than, limit, purpose=CONTROL))

    @override
    async def fail_orphaned(self, org_id: UUID, limit: int) -> int:
        return len(await self._rows(sql.FAIL_ORPHANED, org_id, limit, TENANT_GONE_ERROR, purpose=CONTROL))

    @override
    async def read_gauges(self) -> WorkGauges:
        (row,) = await self._rows_across(sql.READ_GAUGES)
        return WorkGauges(**dict(row))


def _created(item: WorkItem, inserted: set[UUID], taken: dict[UUID | str, UUID]) -> CreatedItem:
    if item.id in inserted:
        return CreatedItem(outcome=InsertOutcome.INSERTED, item_id=item.id)
    if item.id in taken or item.idempotency_key is None:
        return CreatedItem(outcome=InsertOutcome.ID_EXISTS, item_id=item.id)
    return CreatedItem(outcome=InsertOutcome.KEY_EXISTS, item_id=taken[item.idempotency_key])


def _first(rows: list[asyncpg.Record]) -> WorkItem | None:
    return item_of(rows[0]) if rows else None


def _count_of(row: asyncpg.Record) -> WorkCount:
    return WorkCount(
        status=WorkStatus(row["status"]), kind=WorkKind(row["kind"]), lane=row["lane"], num_items=row["num_items"]
    )


def _claim_order(row: ClaimedRow) -> tuple[int, object, UUID]:
    return (-row.item.priority, row.item.available_at, row.item.id)


def _renewed(row: asyncpg.Record) -> Renewed:
    return Renewed(item_id=row["id"], claim_token=row["token"], is_cancel_requested=row["is_cancel_requested"])


def _settle_columns(settlements: Sequence[tuple[UUID, Settlement]]) -> tuple[list[Any], ...]:
    """Return the settlements as the arrays that `SETTLE_BATCH` takes, column by column."""
    each = [settlement for _, settlement in settlements]
    return (
        [org_id for org_id, _ in settlements],
        [settlement.item_id for settlement in each],
        [settlement.claim_token for settlement in each],
        [settlement.outcome.status.value for settlement in each],
        [settlement.delay for settlement in each],
        [settlement.until for settlement in each],
        [int(settlement.outcome.refunds_attempt) for settlement in each],
        [settlement.last_error for settlement in each],
        [settlement.error_code for settlement in each],
        [settlement.result_json for settlement in each],
    )
