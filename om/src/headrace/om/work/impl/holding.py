"""Claiming, and what the holder of a claim writes: always under the claim token."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, override
from uuid import UUID

from headrace.om.context import OpContext, Permission, RequestContext
from headrace.om.encoding import refuse_unstorable_text, storable_text
from headrace.om.exceptions import PlatformException, Unavailable, ValidationFailed
from headrace.om.storage.database import retried
from headrace.om.tenancy.types.work_origin import WorkOrigin
from headrace.om.work import rules
from headrace.om.work.exceptions import WorkClaimLost
from headrace.om.work.impl.news import Ended
from headrace.om.work.impl.parts import WorkPart, dead_letter
from headrace.om.work.manager import WorkHolderInterface
from headrace.om.work.stamping import with_follow_ups_stamped
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow
from headrace.om.work.types.settlement import Renewal, Renewed, Settled, Settlement
from headrace.om.work.types.work_item import MAX_NOTE_BYTES, WorkItem, WorkStatus

logger = logging.getLogger(__name__)

MAX_CLAIM: Final = 1000
MAX_LEASE: Final = timedelta(days=365)
NOT_STORABLE: Final = "the outcome could not be stored; its error and result were left out"


class WorkHolderImpl(WorkPart, WorkHolderInterface):
    """The queue for who works."""

    @override
    async def claim(
        self, rctx: RequestContext, lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta
    ) -> tuple[OpContext, WorkItem] | None:
        claimed = await self.claim_many(rctx, lane, kinds, worker_id, lease, 1)
        return claimed[0] if claimed else None

    @override
    async def claim_many(
        self,
        rctx: RequestContext,
        lane: str,
        kinds: Sequence[WorkKind],
        worker_id: str,
        lease: timedelta,
        limit: int,
    ) -> tuple[tuple[OpContext, WorkItem], ...]:
        _refuse_bad_claim(lane, kinds, worker_id, lease, limit)
        rows = await self._storage.claim_batch(lane, kinds, worker_id, lease, limit)
        if not rows:
            return ()
        contexts = await self._contexts_of(rctx, rows)
        pairs = list(zip(contexts, rows, strict=True))
        if orphans := [(row.org_id, rules.orphaned(row.item)) for ctx, row in pairs if ctx is None]:
            await self._storage.settle_batch(orphans)
        return tuple((ctx, row.item) for ctx, row in pairs if ctx is not None)

    async def _contexts_of(self, rctx: RequestContext, rows: Sequence[ClaimedRow]) -> tuple[OpContext | None, ...]:
        """Ask tenancy for the contexts; where it cannot answer, hand the claims back before saying so."""
        origins = [
            WorkOrigin(row.org_id, row.item.created_by, row.item.request_id, row.item.traceparent) for row in rows
        ]
        try:
            return await self._tenancy.work_contexts(rctx, origins)
        except PlatformException:
            note = "handed back: the tenant's context could not be had"
            await self._storage.settle_batch([(row.org_id, rules.released(row.item, note)) for row in rows])
            raise

    @override
    async def complete(
        self, ctx: OpContext, item: WorkItem, result: Any = None, *, then: Sequence[WorkItem] = ()
    ) -> None:
        ctx.require(Permission.WORK_SETTLE)
        await self._settle_one(ctx, with_follow_ups_stamped(ctx, rules.done(item, result, then)))

    @override
    async def fail(self, ctx: OpContext, item: WorkItem, error: BaseException | str) -> None:
        ctx.require(Permission.WORK_SETTLE)
        await self._settle_one(ctx, rules.failed(item, error))

    @override
    async def refuse(self, ctx: OpContext, item: WorkItem, reason: str, *, code: str = "refused") -> None:
        ctx.require(Permission.WORK_SETTLE)
        await self._settle_one(ctx, rules.refused(item, reason, code=code))

    @override
    async def defer(self, ctx: OpContext, item: WorkItem, delay: timedelta) -> None:
        ctx.require(Permission.WORK_SETTLE)
        await self._settle_one(ctx, rules.deferred(item, delay))

    @override
    async def park(self, ctx: OpContext, item: WorkItem, reason: str, until: datetime) -> None:
        ctx.require(Permission.WORK_SETTLE)
        await self._settle_one(ctx, rules.parked(item, reason, until))

    @override
    async def release(self, ctx: OpContext, item: WorkItem, note: str = "") -> None:
        ctx.require(Permission.WORK_SETTLE)
        await self._settle_one(ctx, rules.released(item, note))

    @override
    async def extend_lease(self, ctx: OpContext, item: WorkItem, lease: timedelta) -> Renewed:
        ctx.require(Permission.WORK_SETTLE)
        renewed = await self._storage.extend_lease(ctx.org_id, _renewal_of(item), _checked_lease(lease))
        if renewed is None:
            raise _claim_lost(item.id)
        return renewed

    @override
    async def report_progress(self, ctx: OpContext, item: WorkItem, progress: float, note: str = "") -> None:
        ctx.require(Permission.WORK_SETTLE)
        bounded = min(max(progress, 0.0), 1.0) if progress == progress else 0.0  # noqa: PLR0124 - NaN is unequal to itself
        text = storable_text(note, limit_bytes=MAX_NOTE_BYTES)
        if not await self._storage.write_progress(ctx.org_id, _renewal_of(item), bounded, text):
            raise _claim_lost(item.id)

    @override
    async def settle_many(self, settlements: Sequence[tuple[OpContext, Settlement]]) -> tuple[Settled, ...]:
        for ctx, _ in settlements:
            ctx.require(Permission.WORK_SETTLE)
        ready = [(ctx, _fitting(ctx, settlement)) for ctx, settlement in settlements]
        pairs = [(ctx.org_id, settlement) for ctx, settlement in ready]
        settled, refusal = await self._settle_batch(pairs) if pairs else ((), None)
        await self._follow([(ctx, end, each) for (ctx, end), each in zip(ready, settled, strict=False)])
        if refusal is not None:
            raise refusal
        return settled

    async def _settle_batch(
        self, pairs: Sequence[tuple[UUID, Settlement]]
    ) -> tuple[tuple[Settled, ...], PlatformException | None]:
        """Settle together, else row by row; return the reports, and what to raise once those are dealt with."""
        try:
            return await retried(lambda: self._storage.settle_batch(pairs)), None
        except Unavailable:
            raise
        except PlatformException as error:
            logger.warning("a batch of %d settlements is written row by row: %s", len(pairs), error)
        return await self._settle_each(pairs)

    async def _settle_each(
        self, pairs: Sequence[tuple[UUID, Settlement]]
    ) -> tuple[tuple[Settled, ...], PlatformException | None]:
        settled: list[Settled] = []
        refusal: PlatformException | None = None
        for org_id, settlement in pairs:
            try:
                settled.append(await self._settle_whatever(org_id, settlement))
            except Unavailable as error:
                return tuple(settled), error
            except PlatformException as error:
                settled.append(Settled(item_id=settlement.item_id, status=None))
                refusal = refusal or error
        return tuple(settled), refusal

    async def _settle_whatever(self, org_id: UUID, settlement: Settlement) -> Settled:
        """Settle one row; where the database refuses its texts, settle it without them."""
        try:
            return await retried(lambda: self._storage.write_item(org_id, settlement))
        except Unavailable:
            raise
        except PlatformException as error:
            bare = _bare(settlement, error)
            return await retried(lambda: self._storage.write_item(org_id, bare))

    async def _settle_one(self, ctx: OpContext, settlement: Settlement) -> None:
        settled = await self._settle_whatever(ctx.org_id, settlement)
        if not settled.is_recorded:
            raise _claim_lost(settlement.item_id)
        await self._follow([(ctx, settlement, settled)])

    async def _follow(self, ends: Sequence[tuple[OpContext, Settlement, Settled]]) -> None:
        """Do what a recorded settlement is followed by: dead letters are named, lanes are woken, news are told."""
        recorded = [each for each in ends if each[2].is_recorded]
        await self._name_dead_letters(
            [
                (ctx, dead_letter(end.item_id, end.kind, end.error_code))
                for ctx, end, settled in recorded
                if settled.status is WorkStatus.FAILED
            ]
        )
        self._wake_for(item for _, end, _ in recorded for item in end.then)
        self._let_others_in(end for _, end, _ in recorded)
        # Where nobody listens, a batch without bundles costs nothing here.
        told = recorded if self._news.wants_ends else [each for each in recorded if each[2].settled_bundle_id]
        await self._tell([Ended.by(ctx.org_id, end, settled) for ctx, end, settled in told])

    @override
    async def renew_many(self, renewals: Sequence[tuple[OpContext, Renewal]], lease: timedelta) -> tuple[Renewed, ...]:
        for ctx, _ in renewals:
            ctx.require(Permission.WORK_SETTLE)
        if not renewals:
            return ()
        pairs = [(ctx.org_id, renewal) for ctx, renewal in renewals]
        return await self._storage.extend_leases(pairs, _checked_lease(lease))


def _fitting(ctx: OpContext, settlement: Settlement) -> Settlement:
    """Return the settlement with its follow-ups as they are written, or a dead letter where one does not fit."""
    try:
        return with_follow_ups_stamped(ctx, settlement)
    except PlatformException as error:
        return rules.unfit(settlement, error)


def _bare(settlement: Settlement, error: PlatformException) -> Settlement:
    """Return the settlement without what the database may have refused in it."""
    if settlement.then:
        return rules.unfit(settlement, error)
    return settlement.model_copy(update={"last_error": NOT_STORABLE, "result_json": None, "until": None})


def _claim_lost(item_id: UUID) -> WorkClaimLost:
    return WorkClaimLost(f"item {item_id} is no longer held by this claim token; nothing was changed")


def _renewal_of(item: WorkItem) -> Renewal:
    if item.claim_token is None:
        raise _claim_lost(item.id)
    return Renewal(item_id=item.id, claim_token=item.claim_token)


def _checked_lease(lease: timedelta) -> timedelta:
    if not timedelta(0) < lease <= MAX_LEASE:
        raise ValidationFailed("lease", f"a duration above zero and up to {MAX_LEASE.days} days, got {lease}")
    return lease


def _refuse_bad_claim(lane: str, kinds: Sequence[WorkKind], worker_id: str, lease: timedelta, limit: int) -> None:
    """Raise ValidationFailed where a claim could take nothing, or too much."""
    if not kinds:
        raise ValidationFailed("kinds", "at least one kind")
    if not 1 <= limit <= MAX_CLAIM:
        raise ValidationFailed("limit", f"1 to {MAX_CLAIM}, got {limit}")
    if not 1 <= len(worker_id) <= 200:  # noqa: PLR2004 - the bound that the docstring gives
        raise ValidationFailed("worker_id", f"1 to 200 characters, got {len(worker_id)}")
    _checked_lease(lease)
    refuse_unstorable_text("lane", lane)
    refuse_unstorable_text("worker_id", worker_id)
