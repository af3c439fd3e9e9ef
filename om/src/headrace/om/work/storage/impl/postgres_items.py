"""One tenant's items over PostgreSQL: creating, looking, operating."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self, override
from uuid import UUID

import asyncpg

from headrace.om.exceptions import Conflict, Unavailable
from headrace.om.storage.database import retried
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage import WorkItemStorageInterface
from headrace.om.work.storage.impl import ending_statements as ending
from headrace.om.work.storage.impl import filtered_statements as filtered
from headrace.om.work.storage.impl import statements as sql
from headrace.om.work.storage.impl.bundle_statements import COUNT_BUNDLES
from headrace.om.work.storage.impl.item_columns import insert_columns, insert_values
from headrace.om.work.storage.impl.postgres_base import WorkPostgresPart
from headrace.om.work.storage.impl.rows import item_of
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import CreatedItem, RetriedItem, WorkCount, WorkFilter, WorkStatusReport
from headrace.om.work.types.work_item import WorkItem, WorkStatus

MAX_INSERT_TRIES: Final = 3
"""How often an insert is tried whose id or key was taken by a row that is gone a moment later."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Which rows have the ids, keys and uniqueness that some items wanted."""

    ids: frozenset[UUID] = frozenset()
    keys: dict[str, UUID] = field(default_factory=dict)
    hashes: dict[UUID, UUID] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[asyncpg.Record]) -> Self:
        """Return what the rows of `FIND_TAKEN` say."""
        return cls(
            ids=frozenset(row["id"] for row in rows),
            keys={row["idempotency_key"]: row["id"] for row in rows if row["idempotency_key"] is not None},
            hashes={row["unique_hash"]: row["id"] for row in rows if row["unique_hash"] is not None},
        )

    def report(self, item: WorkItem) -> CreatedItem | None:
        """Return what an insert of the item has to report, None where nothing is in its way."""
        if item.id in self.ids:
            return CreatedItem(outcome=InsertOutcome.ID_EXISTS, item_id=item.id)
        there = None if item.idempotency_key is None else self.keys.get(item.idempotency_key)
        if there is None and item.unique_hash is not None:
            there = self.hashes.get(item.unique_hash)
        return None if there is None else CreatedItem(outcome=InsertOutcome.KEY_EXISTS, item_id=there)

    def sorted_out(self, items: Sequence[WorkItem]) -> tuple[list[WorkItem], dict[UUID, CreatedItem]]:
        """Return the items that nothing is in the way of, and of the others what is: a row, or an earlier item."""
        free: list[WorkItem] = []
        reports: dict[UUID, CreatedItem] = {}
        seen = Taken(self.ids, dict(self.keys), dict(self.hashes))
        for item in items:
            if (report := seen.report(item)) is not None:
                reports[item.id] = report
                continue
            free.append(item)
            if item.idempotency_key is not None:
                seen.keys[item.idempotency_key] = item.id
            if item.unique_hash is not None:
                seen.hashes[item.unique_hash] = item.id
        return free, reports


class WorkItemsPostgres(WorkPostgresPart, WorkItemStorageInterface):
    """Each method one statement; a create looks closer at what did not go in."""

    @override
    async def create_item(self, org_id: UUID, item: WorkItem) -> InsertOutcome:
        return (await self.create_items(org_id, (item,)))[0].outcome

    @override
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> tuple[CreatedItem, ...]:
        reports: dict[UUID, CreatedItem] = {}
        left = list(items)
        for _ in range(MAX_INSERT_TRIES):
            reports |= await self._insert(org_id, left)
            left = [item for item in left if item.id not in reports]
            # A row that was in the way and is gone by now holds nothing back.
            reports |= await self._reports_of_taken(org_id, left)
            left = [item for item in left if item.id not in reports]
            if not left:
                return tuple(reports[item.id] for item in items)
        raise Unavailable("ids or keys of these items come and go; enqueue them again")

    async def _insert(self, org_id: UUID, items: Sequence[WorkItem]) -> dict[UUID, CreatedItem]:
        if len(items) == 1:
            values = insert_values(items[0], fair_share=self._fair_share)
            return _inserted(await self._rows(sql.CREATE_ITEM, org_id, *values))
        if not _may_agree(items):
            return await self._insert_free(org_id, items)
        # The statement meets the indexes in an order of its own; which of these is the first is the caller's word.
        free, reports = (await self._taken(org_id, items)).sorted_out(items)
        inserted = await self._insert_free(org_id, free)
        lost = {item.id for item in free} - inserted.keys()
        return inserted | {item_id: each for item_id, each in reports.items() if each.item_id not in lost}

    async def _insert_free(self, org_id: UUID, items: Sequence[WorkItem]) -> dict[UUID, CreatedItem]:
        columns = insert_columns(items, fair_share=self._fair_share)
        if any(item.unique_hash is not None and item.idempotency_key is not None for item in items):
            # No one order serves both indexes: two such batches may still meet in a circle, which breaks one of them.
            rows = await retried(lambda: self._rows(sql.CREATE_ITEMS, org_id, *columns))
        else:
            rows = await self._rows(sql.CREATE_ITEMS, org_id, *columns)
        return _inserted(rows)

    async def _reports_of_taken(self, org_id: UUID, items: Sequence[WorkItem]) -> dict[UUID, CreatedItem]:
        taken = await self._taken(org_id, items)
        return {item.id: report for item in items if (report := taken.report(item)) is not None}

    async def _taken(self, org_id: UUID, items: Sequence[WorkItem]) -> Taken:
        """Return which rows have the items' ids, keys and uniqueness."""
        if not items:
            return Taken()
        keys = [item.idempotency_key for item in items if item.idempotency_key is not None]
        hashes = [item.unique_hash for item in items if item.unique_hash is not None]
        return Taken.of(await self._rows(sql.FIND_TAKEN, org_id, [item.id for item in items], keys, hashes))

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
        stmt = filtered.read_items(filtered.given(where), where.status)
        return tuple(item_of(row) for row in await self._rows(stmt, org_id, limit, after, *filtered.values(where)))

    @override
    async def read_status(self, org_id: UUID) -> WorkStatusReport:
        rows = await self._rows(sql.READ_COUNTS, org_id)
        waits = [row["oldest_waiting"] for row in rows if row["oldest_waiting"] is not None]
        (bundles,) = await self._rows(COUNT_BUNDLES, org_id)
        return WorkStatusReport(
            counts=tuple(_count_of(row) for row in rows), oldest_waiting=max(waits, default=None), **bundles
        )

    @override
    async def cancel_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return _first(await self._rows(ending.CANCEL_ITEM, org_id, item_id))

    @override
    async def cancel_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[WorkItem, ...]:
        stmt = filtered.cancel_items(filtered.given(where), where.status)
        return tuple(item_of(row) for row in await self._rows(stmt, org_id, limit, after, *filtered.values(where)))

    @override
    async def retry_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        try:
            return _first(await self._rows(ending.RETRY_ITEM, org_id, item_id))
        except Conflict:  # one that has not settled agrees with it
            return None

    @override
    async def retry_items(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None = None
    ) -> tuple[RetriedItem, ...]:
        page = (limit, after, *filtered.values(where))
        try:
            rows = await self._rows(filtered.retry_items(filtered.given(where), where.status), org_id, *page)
        except Conflict:  # one that agrees with one of these was enqueued meanwhile
            return await self._retry_each(org_id, where, limit, after)
        return tuple(RetriedItem(item_id=row["id"], lane=row["lane"], is_queued=row["is_queued"]) for row in rows)

    async def _retry_each(
        self, org_id: UUID, where: WorkFilter, limit: int, after: UUID | None
    ) -> tuple[RetriedItem, ...]:
        page = await self._rows(
            filtered.read_settled(filtered.given(where), where.status), org_id, limit, after, *filtered.values(where)
        )
        queued = {row["id"] for row in reversed(page) if await self.retry_item(org_id, row["id"]) is not None}
        return tuple(RetriedItem(item_id=row["id"], lane=row["lane"], is_queued=row["id"] in queued) for row in page)

    @override
    async def delete_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return _first(await self._rows(ending.DELETE_ITEM, org_id, item_id))

    @override
    async def delete_items(self, org_id: UUID, where: WorkFilter, limit: int) -> int:
        stmt = filtered.delete_items(filtered.given(where), where.status)
        return len(await self._rows(stmt, org_id, limit, None, *filtered.values(where)))


def _inserted(rows: Sequence[asyncpg.Record]) -> dict[UUID, CreatedItem]:
    ids = (row["id"] for row in rows)
    return {each: CreatedItem.trusted({"outcome": InsertOutcome.INSERTED, "item_id": each}) for each in ids}


def _first(rows: list[asyncpg.Record]) -> WorkItem | None:
    return item_of(rows[0]) if rows else None


def _may_agree(items: Sequence[WorkItem]) -> bool:
    """Return whether some have keys, some are unique for something, and some of them agree in either."""
    keys = [item.idempotency_key for item in items if item.idempotency_key is not None]
    hashes = [item.unique_hash for item in items if item.unique_hash is not None]
    return bool(keys and hashes) and len(keys) + len(hashes) > len({*keys}) + len({*hashes})


def _count_of(row: asyncpg.Record) -> WorkCount:
    return WorkCount(
        status=WorkStatus(row["status"]), kind=WorkKind.read(row["kind"]), lane=row["lane"], num_items=row["num_items"]
    )
