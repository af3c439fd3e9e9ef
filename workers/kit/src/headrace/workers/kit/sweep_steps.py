"""What the sweep of every worker does, over the managers."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from headrace.om.context import OpContext, RequestContext
from headrace.om.outbox import OutboxRelayInterface
from headrace.om.root import Managers
from headrace.om.tenancy import TenancyManagerInterface
from headrace.om.webhooks.manager import WebhookSweepInterface
from headrace.om.work.manager import WorkSweepInterface
from headrace.workers.kit.metrics import WorkerMetrics
from headrace.workers.kit.sweeping import SweepStep

BATCH: Final = 1000
"""Outbox rows or tenants that one statement of a step takes."""

RELAY_BATCH: Final = 200
"""Rows of one pass of the relay: they are relayed well within the time that the relay holds them."""

MAX_ROUNDS: Final = 100
"""Statements of one step at most; what is left is met by the next pass."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long what is finished is kept, and how often the purges look.

    Attributes:
        settled_items: After an item settled.
        done_outbox_rows: After an outbox row was relayed.
        webhook_messages: After a message was published.
        deleted_records: After an org was deleted.
        every: At most this often.
        limit: Records of one tenant that the managers move in one call.
    """

    settled_items: timedelta
    done_outbox_rows: timedelta
    webhook_messages: timedelta
    deleted_records: timedelta
    every: timedelta
    limit: int


def standard_steps(managers: Managers, metrics: WorkerMetrics, retention: Retention) -> tuple[SweepStep, ...]:
    """Return the steps in the order that repairs come before tidying, and an org goes after what it owns."""
    queue = _QueueSteps(managers.work, metrics, retention)
    rows = _OutboxSteps(managers.outbox, metrics, retention)
    orgs = _OrgSteps(managers.tenancy, managers.webhooks, retention)
    return (
        SweepStep("requeue_stale", queue.requeue_stale),
        SweepStep("relay_outbox", rows.relay),
        SweepStep("queue_gauges", queue.show_gauges),
        SweepStep("outbox_gauges", rows.show_gauges),
        SweepStep("purge_settled_items", queue.purge, every=retention.every),
        SweepStep("clear_orphaned_items", queue.clear_orphans, every=retention.every),
        SweepStep("purge_done_outbox_rows", rows.purge, every=retention.every),
        SweepStep("purge_webhook_messages", orgs.purge_messages, every=retention.every),
        SweepStep("purge_deleted_orgs", orgs.purge_deleted, every=retention.every),
    )


class _QueueSteps:
    def __init__(self, work: WorkSweepInterface, metrics: WorkerMetrics, retention: Retention) -> None:
        self._work = work
        self._metrics = metrics
        self._retention = retention

    async def requeue_stale(self, rctx: RequestContext) -> int:
        """Hand back items whose lease passed, tenant by tenant; fail those whose tenant is gone."""
        stale = await self._work.get_stale_orgs(rctx, BATCH)
        if not stale:
            return 0
        contexts = {ctx.org_id: ctx for ctx in await self._work.maintenance_contexts(rctx)}
        return await _for_each(stale, lambda org_id: self._requeue_org(org_id, contexts.get(org_id)))

    async def _requeue_org(self, org_id: UUID, ctx: OpContext | None) -> int:
        return await (self._work.fail_orphaned(org_id) if ctx is None else self._work.requeue_stale(ctx))

    async def purge(self, rctx: RequestContext) -> int:
        """Remove items that settled longer ago than their retention."""
        contexts = {ctx.org_id: ctx for ctx in await self._work.maintenance_contexts(rctx)}
        return await _for_each(contexts, lambda org_id: self._purge_org(contexts[org_id]))

    async def _purge_org(self, ctx: OpContext) -> int:
        retained_for, limit = self._retention.settled_items, self._retention.limit
        return await _while_full(lambda: self._work.purge_items(ctx, retained_for), limit)

    async def clear_orphans(self, rctx: RequestContext) -> int:
        """Fail what tenants that are gone left in the queue, due or not, and remove it after its retention."""
        return await _for_each(await self._work.get_orphaned_orgs(rctx), self._clear_org)

    async def _clear_org(self, org_id: UUID) -> int:
        retained_for, limit = self._retention.settled_items, self._retention.limit
        num_failed = await _while_full(lambda: self._work.fail_orphaned(org_id), limit)
        return num_failed + await _while_full(lambda: self._work.purge_orphaned(org_id, retained_for), limit)

    async def show_gauges(self, rctx: RequestContext) -> int:
        """Show the queue's numbers."""
        self._metrics.show_queue(await self._work.read_gauges(rctx))
        self._metrics.show_held_back(await self._work.read_held_back(rctx))
        return 0


class _OutboxSteps:
    def __init__(self, outbox: OutboxRelayInterface, metrics: WorkerMetrics, retention: Retention) -> None:
        self._outbox = outbox
        self._metrics = metrics
        self._retention = retention

    async def relay(self, rctx: RequestContext) -> int:
        """Relay what a crash or an outage left in the outbox."""
        return await relay_all(self._outbox, rctx)

    async def purge(self, rctx: RequestContext) -> int:
        """Remove outbox rows that were relayed longer ago than their retention."""
        return await _while_full(lambda: self._outbox.purge_done(rctx, self._retention.done_outbox_rows, BATCH), BATCH)

    async def show_gauges(self, rctx: RequestContext) -> int:
        """Show how far the relay is behind."""
        gauges = await self._outbox.read_gauges(rctx)
        self._metrics.show_outbox(gauges.num_pending, gauges.lag)
        return 0


class _OrgSteps:
    def __init__(self, tenancy: TenancyManagerInterface, webhooks: WebhookSweepInterface, retention: Retention) -> None:
        self._tenancy = tenancy
        self._webhooks = webhooks
        self._retention = retention

    async def purge_messages(self, rctx: RequestContext) -> int:
        """Remove webhook messages that were published longer ago than their retention."""
        retained_for = self._retention.webhook_messages
        contexts = {ctx.org_id: ctx for ctx in await self._tenancy.service_contexts(rctx)}
        return await _for_each(contexts, lambda org_id: self._purge_messages_of(contexts[org_id], retained_for))

    async def purge_deleted(self, rctx: RequestContext) -> int:
        """Remove orgs that were deleted longer ago than their retention; return how many."""
        deleted = await self._tenancy.deleted_contexts(rctx, self._retention.deleted_records, BATCH)
        contexts = {ctx.org_id: ctx for ctx in deleted}
        return await _for_each(contexts, lambda org_id: self._purge_org(contexts[org_id]))

    async def _purge_messages_of(self, ctx: OpContext, older_than: timedelta) -> int:
        return await _while_full(lambda: self._webhooks.purge_messages(ctx, older_than), self._retention.limit)

    async def _purge_org(self, ctx: OpContext) -> bool:
        """Remove what the org owns and then itself: as long as it stands, the next pass finds what is left of it."""
        await self._purge_messages_of(ctx, timedelta(0))
        await _while_full(lambda: self._webhooks.purge_endpoints(ctx), self._retention.limit)
        return await self._tenancy.purge_org(ctx, self._retention.deleted_records)


async def relay_all(outbox: OutboxRelayInterface, rctx: RequestContext, stop: asyncio.Event | None = None) -> int:
    """Relay due rows batch by batch until one comes back short or `stop` is set; return how many were relayed."""
    num_relayed = 0
    for _ in range(MAX_ROUNDS):
        report = await outbox.relay_pending(rctx, RELAY_BATCH)
        num_relayed += report.num_relayed
        if report.num_relayed + report.num_failed < RELAY_BATCH or (stop is not None and stop.is_set()):
            break
    return num_relayed


async def _for_each(org_ids: Iterable[UUID], step: Callable[[UUID], Awaitable[int]]) -> int:
    """Run a step for each org, in the order of their ids; return how many records all of them moved.

    Raises:
        ExceptionGroup: What failed, each error with its org, after every other org had its turn.
    """
    total = 0
    errors: list[Exception] = []
    for org_id in sorted(org_ids):
        try:
            total += await step(org_id)
        except Exception as error:  # noqa: BLE001 - one org must not keep the others from being repaired
            error.add_note(f"org {org_id}")
            errors.append(error)
    if errors:
        raise ExceptionGroup(f"{len(errors)} orgs could not be swept", errors)
    return total


async def _while_full(step: Callable[[], Awaitable[int]], limit: int) -> int:
    """Run a step again for as long as it moves as much as it may; return how much it moved."""
    total = 0
    for _ in range(MAX_ROUNDS):
        moved = await step()
        total += moved
        if moved < limit:
            break
    return total
