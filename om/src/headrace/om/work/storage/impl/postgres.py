"""The queue over PostgreSQL, on the driver's own connection."""

from collections.abc import Sequence
from datetime import timedelta
from typing import override
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID
from headrace.om.work.rules import LEASE_PASSED_ERROR, STAGGER_CAP, STAGGER_STEP, TENANT_GONE_ERROR
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.storage.impl import ending_statements as ending
from headrace.om.work.storage.impl import statements as sql
from headrace.om.work.storage.impl.postgres_base import CONTROL
from headrace.om.work.storage.impl.postgres_bundles import WorkBundlesPostgres
from headrace.om.work.storage.impl.postgres_claims import WorkClaimsPostgres
from headrace.om.work.storage.impl.postgres_controls import WorkControlsPostgres
from headrace.om.work.storage.impl.postgres_schedules import WorkSchedulesPostgres
from headrace.om.work.storage.impl.postgres_settling import WorkSettlingPostgres
from headrace.om.work.storage.impl.rows import item_of
from headrace.om.work.types.queries import WorkGauges
from headrace.om.work.types.settlement import Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import WorkItem


class WorkStoragePostgresImpl(
    WorkClaimsPostgres,
    WorkControlsPostgres,
    WorkBundlesPostgres,
    WorkSchedulesPostgres,
    WorkSettlingPostgres,
    WorkStorageInterface,
):
    """Claims, settlements, renewals and the sweep have connections of their own; operators take the main ones."""

    @override
    async def write_item(self, org_id: UUID, settlement: Settlement) -> Settled:
        return (await self._settle(org_id, [(org_id, settlement)]))[0]

    @override
    async def settle_batch(self, settlements: Sequence[tuple[UUID, Settlement]]) -> tuple[Settled, ...]:
        return await self._settle(EMPTY_UUID, settlements)

    @override
    async def extend_lease(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        columns = ([org_id], [renewal.item_id], [renewal.claim_token], lease)
        rows = await self._rows_of(sql.EXTEND_LEASES, org_id, *columns)
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
        return tuple(item_of(row) for row in await self._rows(ending.REQUEUE_STALE, org_id, *args, purpose=CONTROL))

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
        return len(await self._rows(ending.FAIL_ORPHANED, org_id, limit, TENANT_GONE_ERROR, purpose=CONTROL))

    @override
    async def read_gauges(self) -> WorkGauges:
        (row,) = await self._rows_across(sql.READ_GAUGES)
        return WorkGauges(**dict(row))


def _renewed(row: asyncpg.Record) -> Renewed:
    return Renewed(item_id=row["id"], claim_token=row["token"], is_cancel_requested=row["is_cancel_requested"])
