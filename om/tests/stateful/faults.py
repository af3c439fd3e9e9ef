"""Faults that queues like this one had, planted into the memory implementation, one class each.

A docstring is the fault in a sentence. What the machine must say of it is in `test_planted_faults`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, override
from uuid import UUID

from headrace.om.base import new_id
from headrace.om.work import rules
from headrace.om.work.claiming import Running
from headrace.om.work.storage.impl.memory import WorkStorageMemoryImpl
from headrace.om.work.storage.impl.memory_claims import Place, Waiting
from headrace.om.work.types.control import WorkControls
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.settlement import Outcome, Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus

DAY = timedelta(days=1)


class SettlesById(WorkStorageMemoryImpl):
    """A settlement is written by the item's id: whoever holds the claim now loses it."""

    @override
    def _settle(self, org_id: UUID, settlement: Settlement) -> Settled:
        row = self._table.rows.get((org_id, settlement.item_id))
        if row is not None and row.claim_token is not None:
            settlement = settlement.model_copy(update={"claim_token": row.claim_token})
        return super()._settle(org_id, settlement)


class RenewsById(WorkStorageMemoryImpl):
    """A renewal is written by the item's id, whatever its token."""

    @override
    def _extend(self, org_id: UUID, renewal: Renewal, lease: timedelta) -> Renewed | None:
        row = self._table.rows.get((org_id, renewal.item_id))
        if row is not None and row.claim_token is not None:
            renewal = renewal.model_copy(update={"claim_token": row.claim_token})
        return super()._extend(org_id, renewal, lease)


class ReportsById(WorkStorageMemoryImpl):
    """Progress is written by the item's id, whatever its token."""

    @override
    async def write_progress(self, org_id: UUID, renewal: Renewal, progress: float, note: str) -> bool:
        if (row := self._table.rows.get((org_id, renewal.item_id))) is None:
            return False
        self._table.write(org_id, row, progress=progress, progress_note=note)
        return True


class SweepsLiveLeases(WorkStorageMemoryImpl):
    """The sweep's clock is an hour ahead: it takes back claims whose lease has not passed."""

    @override
    async def requeue_stale(
        self, org_id: UUID, overdue: timedelta, limit: int, *, max_crashes: int
    ) -> tuple[WorkItem, ...]:
        return await super().requeue_stale(org_id, overdue - timedelta(hours=1), limit, max_crashes=max_crashes)


class ClaimsEarly(WorkStorageMemoryImpl):
    """A claim takes items whose time has not come."""

    @override
    def _waiting(self, place: Place) -> Waiting:
        real, self._clock = self._clock, lambda: real() + DAY
        try:
            return super()._waiting(place)
        finally:
            self._clock = real


class ForgetsRefunds(WorkStorageMemoryImpl):
    """What is released, deferred or parked has used up an attempt."""

    @override
    def _settle(self, org_id: UUID, settlement: Settlement) -> Settled:
        settled = super()._settle(org_id, settlement)
        row = self._table.rows.get((org_id, settlement.item_id))
        is_new = row is not None and self._table.settlements.get((org_id, row.id)) == settlement.settlement_id
        if row is not None and is_new and settled.is_recorded and settlement.outcome.refunds_attempt:
            self._table.rows[org_id, row.id] = row.model_copy(update={"attempts": row.attempts + 1})
        return settled


class RetriesUncounted(WorkStorageMemoryImpl):
    """A retry leaves its item counted in its bundle."""

    @override
    def _retry(self, org_id: UUID, item: WorkItem) -> WorkItem | None:
        bundles = dict(self._table.bundles)
        again = super()._retry(org_id, item)
        self._table.bundles.update(bundles)
        return again


class RetriesWhatIsNotUnique(WorkStorageMemoryImpl):
    """A retry does not ask whether another item agrees with it in what it is unique for."""

    @override
    def _retry(self, org_id: UUID, item: WorkItem) -> WorkItem | None:
        return self._table.write(org_id, item, available_at=self._clock(), **rules.AS_NEW)


class FollowsTwice(WorkStorageMemoryImpl):
    """What follows a bundle is no key's: a bundle that settles again is followed again."""

    @override
    def _settle(self, org_id: UUID, settlement: Settlement) -> Settled:
        rows = self._table.rows
        bundle = None if settlement.bundle_id is None else self._table.bundles.get((org_id, settlement.bundle_id))
        follow_up_id = None if bundle is None else bundle.follow_up_id
        there = None if follow_up_id is None else rows.get((org_id, follow_up_id))
        settled = super()._settle(org_id, settlement)
        if there is not None and settled.settled_bundle_id is not None:
            again = there.model_copy(update={"id": new_id()})
            rows[org_id, again.id] = again
        return settled


class CountsTheDead(WorkStorageMemoryImpl):
    """A limit counts claims whose lease has passed: a dead holder fills it until somebody sweeps."""

    @override
    def _running(self, now: datetime) -> Running:
        return super()._running(now - DAY)


class CountsNobody(WorkStorageMemoryImpl):
    """A limit counts what a claim takes, and not what runs already."""

    @override
    def _running(self, now: datetime) -> Running:
        return Running(())


class RunsOutOfOrder(WorkStorageMemoryImpl):
    """An item of an ordering key is taken while another of it runs."""

    @override
    def _is_head(self, org_id: UUID, item: WorkItem, now: datetime) -> bool:
        return True


class IgnoresPauses(WorkStorageMemoryImpl):
    """A claim knows of no pause."""

    @override
    def _all_controls(self) -> WorkControls:
        return super()._all_controls().model_copy(update={"pauses": ()})


class IgnoresRates(WorkStorageMemoryImpl):
    """A claim draws from a bucket that is empty."""

    @override
    def _is_spent(self, controls: WorkControls, kind: WorkKind, now: datetime) -> bool:
        return False


class StopsAtWhatIsBlocked(WorkStorageMemoryImpl):
    """A claim looks at the first item of each org only: when that one is held back, all behind it wait."""

    @override
    def _waiting(self, place: Place) -> Waiting:
        return {turn: rows[:1] for turn, rows in super()._waiting(place).items()}


class ServesTheFirstOrg(WorkStorageMemoryImpl):
    """A claim begins with the same org every time."""

    @override
    def _take_next(self, place: Place, waiting: Waiting, worker_id: str, lease: timedelta) -> Any:
        self._served.clear()
        return super()._take_next(place, waiting, worker_id, lease)


class PurgesWhatWaits(WorkStorageMemoryImpl):
    """The purge goes by age alone, settled or not."""

    @override
    async def purge_items(self, org_id: UUID, older_than: timedelta, limit: int) -> int:
        before = self._clock() - older_than
        old = [i for i in self._table.of(org_id) if i.available_at is not None and i.available_at < before]
        for item in old:
            self._table.remove(org_id, item)
        return len(old)


class CancelsUnderTheHolder(WorkStorageMemoryImpl):
    """A cancel ends a claimed item at once, under its holder's hands."""

    @override
    def _cancel(self, org_id: UUID, item: WorkItem) -> WorkItem:
        asked = super()._cancel(org_id, item)
        if asked.status is not WorkStatus.CLAIMED:
            return asked
        ended = {"status": WorkStatus.CANCELLED, "settled_at": self._clock()}
        return self._table.write(org_id, asked, claim_token=None, lease_expires_at=None, **ended)


class ReadsAcrossTenants(WorkStorageMemoryImpl):
    """An item is found by its id alone, whoever asks."""

    @override
    async def read_item(self, org_id: UUID, item_id: UUID) -> WorkItem | None:
        return next((item for (_, each), item in self._table.rows.items() if each == item_id), None)


class ForgetsWhatWasWritten(WorkStorageMemoryImpl):
    """A settlement whose answer was lost is refused when it comes again."""

    @override
    def _settled_before(self, org_id: UUID, settlement: Settlement) -> Settled:
        return Settled(item_id=settlement.item_id, status=None)


class WritesTwice(WorkStorageMemoryImpl):
    """A settlement that comes again is written again, over what has happened since."""

    @override
    def _settled_before(self, org_id: UUID, settlement: Settlement) -> Settled:
        settled = super()._settled_before(org_id, settlement)
        row = self._table.rows.get((org_id, settlement.item_id))
        if settled.is_recorded and row is not None and row.status is WorkStatus.QUEUED:
            self._table.write(org_id, row, attempts=max(0, row.attempts - 1))
        return settled


class KeepsCrashes(WorkStorageMemoryImpl):
    """A success does not clear the count of crashes."""

    @override
    def _settle(self, org_id: UUID, settlement: Settlement) -> Settled:
        before = self._table.rows.get((org_id, settlement.item_id))
        settled = super()._settle(org_id, settlement)
        row = self._table.rows.get((org_id, settlement.item_id))
        if before is not None and row is not None and settlement.outcome is Outcome.DONE and settled.is_recorded:
            self._table.rows[org_id, row.id] = row.model_copy(update={"crashes": before.crashes})
        return settled


class LosesASettledItem(WorkStorageMemoryImpl):
    """An enqueue under the id of a settled item begins it again."""

    @override
    async def create_items(self, org_id: UUID, items: Sequence[WorkItem]) -> Any:
        for item in items:
            there = self._table.rows.get((org_id, item.id))
            if there is not None and there.status in SETTLED_STATUSES:
                self._table.write(org_id, there, status=WorkStatus.QUEUED, settled_at=None)
        return await super().create_items(org_id, items)
