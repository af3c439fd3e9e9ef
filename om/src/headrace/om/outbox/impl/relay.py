"""The relay over the outbox's storage, the event feed, the topics and the queue."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, override
from uuid import UUID

from headrace.infra.topics import EntityChanged, Topics, TopicsInterface
from headrace.om.context import RequestContext
from headrace.om.encoding import storable_text
from headrace.om.events.manager import EventsManagerInterface
from headrace.om.exceptions import PlatformException, ValidationFailed
from headrace.om.outbox.manager import OutboxRelayInterface
from headrace.om.outbox.rules import MAX_ERROR_BYTES, RelayBackoff
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.outbox.types.outbox_row import (
    ENTITY_CHANGED_KIND,
    WORK_KIND_PREFIX,
    OutboxRow,
    TakenRow,
    UnreadableRow,
)
from headrace.om.outbox.types.relay_report import OutboxGauges, RelayReport
from headrace.om.paging import checked_age, checked_limit
from headrace.om.work.manager import WorkEnqueueInterface

logger = logging.getLogger(__name__)

DEFAULT_HOLD: Final = timedelta(seconds=30)
MAX_CONCURRENT: Final = 4
"""Groups of one pass that are relayed at once: one that is slow holds up a share of a pass, not the pass."""


class OutboxRelayImpl(OutboxRelayInterface):
    """Takes rows, makes their side effects happen, and marks what became of each.

    A crash anywhere leaves rows that are on hold for `hold` and then due again.

    Args:
        storage: The outbox.
        events: Where entity changes go.
        topics: Who hears of them, best effort.
        work: Where work goes.
        hold: How long a taken row is hidden from other relays; above the time that a pass takes.
        backoff: How long a row waits that could not be relayed.
    """

    def __init__(
        self,
        storage: OutboxStorageInterface,
        events: EventsManagerInterface,
        topics: TopicsInterface,
        work: WorkEnqueueInterface,
        *,
        hold: timedelta = DEFAULT_HOLD,
        backoff: RelayBackoff | None = None,
    ) -> None:
        self._storage = storage
        self._events = events
        self._topics = topics
        self._work = work
        self._hold = hold
        self._backoff = backoff or RelayBackoff()

    @override
    async def relay_rows(self, org_id: UUID, rows: Sequence[OutboxRow]) -> None:
        if not rows:
            return
        try:
            taken = await self._storage.take_rows(org_id, [row.id for row in rows], self._hold)
            await self._relay([(org_id, row) for row in taken])
        except Exception:  # the write is committed: its caller must not be told otherwise
            logger.warning("%d outbox rows are left to the sweep", len(rows), exc_info=True)

    @override
    async def relay_pending(self, rctx: RequestContext, limit: int) -> RelayReport:
        return await self._relay(await self._storage.take_pending(checked_limit(limit), self._hold))

    @override
    async def purge_done(self, rctx: RequestContext, older_than: timedelta, limit: int) -> int:
        return await self._storage.purge_done(checked_age(older_than), checked_limit(limit))

    @override
    async def read_gauges(self, rctx: RequestContext) -> OutboxGauges:
        return await self._storage.read_gauges()

    async def _relay(self, taken: Sequence[tuple[UUID, TakenRow]]) -> RelayReport:
        slots = asyncio.Semaphore(MAX_CONCURRENT)
        relayed = await asyncio.gather(*(self._relay_group(slots, *group) for group in _groups_of(taken)))
        num_marked = await self._mark_done([row for rows in relayed for row in rows])
        return RelayReport(num_relayed=num_marked, num_failed=len(taken) - num_marked)

    async def _relay_group(
        self, slots: asyncio.Semaphore, org_id: UUID, rows: Sequence[TakenRow]
    ) -> list[tuple[UUID, TakenRow]]:
        """Return the rows whose side effects happened; record it of the others."""
        async with slots:
            happened: list[tuple[UUID, TakenRow]] = []
            for row, error in zip(rows, await self._errors_of(org_id, rows), strict=True):
                if error is None:
                    happened.append((org_id, row))
                else:
                    await self._mark_failed(org_id, row, error)
            return happened

    async def _errors_of(self, org_id: UUID, rows: Sequence[TakenRow]) -> Sequence[Exception | None]:
        """Carry on rows of one group; return for each why that did not succeed, or None."""
        try:
            if _is_work(rows[0]):
                return await self._work.enqueue_relayed_many(
                    org_id, [row for row in rows if isinstance(row, OutboxRow)]
                )
            for row in rows:
                await self._carry_on(org_id, row)
        except Exception as error:  # noqa: BLE001 - whatever a row does, the others go on
            return [error] * len(rows)
        return [None] * len(rows)

    async def _carry_on(self, org_id: UUID, row: TakenRow) -> None:
        if isinstance(row, UnreadableRow):
            raise ValidationFailed("row", f"one that can be read ({row.error})")
        if row.kind != ENTITY_CHANGED_KIND:
            raise ValidationFailed("kind", f"{ENTITY_CHANGED_KIND} or {WORK_KIND_PREFIX}<kind>, got {row.kind!r}")
        await self._tell(org_id, row)

    async def _tell(self, org_id: UUID, row: OutboxRow) -> None:
        """Append the event, which must happen, and publish it, which may be lost."""
        event = await self._events.append_relayed(org_id, row)
        message = EntityChanged(
            idempotency_key=str(row.id),
            org_id=org_id,
            entity=event.entity,
            entity_id=event.entity_id,
            change=event.change,
        )
        await self._topics.publish(Topics.ENTITY_CHANGED, message)

    async def _mark_done(self, happened: Sequence[tuple[UUID, TakenRow]]) -> int:
        """Mark rows tenant by tenant; those whose marking fails are relayed again after their hold, to no effect."""
        by_org: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for org_id, row in happened:
            by_org[org_id].append(row.id)
        num_marked = 0
        for org_id, row_ids in by_org.items():
            try:
                await self._storage.mark_done(org_id, row_ids)
                num_marked += len(row_ids)
            except PlatformException as error:
                logger.warning("%d relayed outbox rows of %s stay unmarked: %s", len(row_ids), org_id, error)
        return num_marked

    async def _mark_failed(self, org_id: UUID, row: TakenRow, error: Exception) -> None:
        text = f"{type(error).__name__}: {storable_text(error, limit_bytes=MAX_ERROR_BYTES)}"
        logger.warning("outbox row %s of %s (%s) is relayed later: %s", row.id, org_id, row.kind, text)
        try:
            await self._storage.mark_failed(org_id, row.id, text, self._backoff)
        except PlatformException as odd:
            logger.warning("the failure of outbox row %s is not recorded, its hold ends by itself: %s", row.id, odd)


def _is_work(row: TakenRow) -> bool:
    return isinstance(row, OutboxRow) and row.kind.startswith(WORK_KIND_PREFIX)


def _groups_of(taken: Sequence[tuple[UUID, TakenRow]]) -> list[tuple[UUID, list[TakenRow]]]:
    """Return what is carried on together: all work of a tenant, which is one statement; any other row by itself."""
    work: defaultdict[UUID, list[TakenRow]] = defaultdict(list)
    others: list[tuple[UUID, list[TakenRow]]] = []
    for org_id, row in taken:
        if _is_work(row):
            work[org_id].append(row)
        else:
            others.append((org_id, [row]))
    return [*work.items(), *others]
