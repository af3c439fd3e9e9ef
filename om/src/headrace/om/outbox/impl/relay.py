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
from headrace.om.outbox.types.outbox_row import ENTITY_CHANGED_KIND, WORK_KIND_PREFIX, OutboxRow
from headrace.om.outbox.types.relay_report import OutboxGauges, RelayReport
from headrace.om.paging import checked_limit
from headrace.om.work.manager import WorkEnqueueInterface

logger = logging.getLogger(__name__)

DEFAULT_HOLD: Final = timedelta(seconds=30)
MAX_CONCURRENT: Final = 4
"""Rows of one pass that are relayed at once: one that is slow holds up a share of a pass, not the pass."""


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
        return await self._storage.purge_done(older_than, checked_limit(limit))

    @override
    async def read_gauges(self, rctx: RequestContext) -> OutboxGauges:
        return await self._storage.read_gauges()

    async def _relay(self, taken: Sequence[tuple[UUID, OutboxRow]]) -> RelayReport:
        slots = asyncio.Semaphore(MAX_CONCURRENT)
        relayed = await asyncio.gather(*(self._relay_one(slots, org_id, row) for org_id, row in taken))
        happened = [each for each, is_relayed in zip(taken, relayed, strict=True) if is_relayed]
        num_marked = await self._mark_done(happened)
        return RelayReport(num_relayed=num_marked, num_failed=len(taken) - num_marked)

    async def _relay_one(self, slots: asyncio.Semaphore, org_id: UUID, row: OutboxRow) -> bool:
        """Return whether the row's side effects happened; record it where they did not."""
        async with slots:
            try:
                await self._carry_on(org_id, row)
            except Exception as error:  # noqa: BLE001 - whatever a row does, the others go on
                await self._mark_failed(org_id, row, error)
                return False
            return True

    async def _carry_on(self, org_id: UUID, row: OutboxRow) -> None:
        if row.kind == ENTITY_CHANGED_KIND:
            await self._tell(org_id, row)
        elif row.kind.startswith(WORK_KIND_PREFIX):
            await self._work.enqueue_relayed(org_id, row)
        else:
            raise ValidationFailed("kind", f"{ENTITY_CHANGED_KIND} or {WORK_KIND_PREFIX}<kind>, got {row.kind!r}")

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

    async def _mark_done(self, happened: Sequence[tuple[UUID, OutboxRow]]) -> int:
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

    async def _mark_failed(self, org_id: UUID, row: OutboxRow, error: Exception) -> None:
        text = f"{type(error).__name__}: {storable_text(error, limit_bytes=MAX_ERROR_BYTES)}"
        logger.warning("outbox row %s of %s (%s) is relayed later: %s", row.id, org_id, row.kind, text)
        try:
            await self._storage.mark_failed(org_id, row.id, text, self._backoff)
        except PlatformException as odd:
            logger.warning("the failure of outbox row %s is not recorded, its hold ends by itself: %s", row.id, odd)
