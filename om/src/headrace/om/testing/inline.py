"""Work that runs where it is enqueued: in the caller's task, at once, and nothing is stored."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Final, override
from uuid import UUID, uuid4

from headrace.om.base import utcnow
from headrace.om.context import OpContext
from headrace.om.root import Managers
from headrace.om.tenancy.types.work_origin import WorkOrigin
from headrace.om.testing.guard import new_request, refuse_outside_of_tests
from headrace.om.testing.running import Ran, run_item
from headrace.om.work import bundling
from headrace.om.work.diversion import WorkDiversion, diverting
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.bundle import WorkBundle
from headrace.om.work.types.handler import Steering
from headrace.om.work.types.settlement import Outcome, Settlement
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem, WorkStatus

MAX_DEPTH: Final = 50
"""Items that may enqueue each other in a row."""

_depth: Final[ContextVar[int]] = ContextVar("inline_work_depth", default=0)


class InlineWork:
    """What ran, in the order in which it ended."""

    def __init__(self) -> None:
        self.ran: list[Ran] = []

    @property
    def outcomes(self) -> list[Outcome]:
        """How each ended."""
        return [each.outcome for each in self.ran]


@contextmanager
def inline_work(managers: Managers, registry: HandlerRegistry, *, raises: bool = True) -> Iterator[InlineWork]:
    """Run items where they are enqueued, with what follows them; yield what has run.

    Whoever enqueues sees the item as its one run left it. There is no queue behind it: no keys, no delays, no second
    attempts. An item of a kind without a handler goes to the queue as usual.

    Args:
        managers: Whose tenants the work is for.
        registry: The handlers.
        raises: Whether an error of a handler that steers nothing goes on to whoever enqueued; else it ends its item.

    Raises:
        OutsideOfTests: No test is running.
    """
    refuse_outside_of_tests("inline_work")
    inline = InlineWork()
    with diverting(_Inline(managers, registry, inline, raises=raises)):
        yield inline


class _Inline(WorkDiversion):
    def __init__(self, managers: Managers, registry: HandlerRegistry, inline: InlineWork, *, raises: bool) -> None:
        self._managers = managers
        self._registry = registry
        self._inline = inline
        self._raises = raises

    @override
    async def take_items(self, org_id: UUID, items: Sequence[WorkItem]) -> Mapping[UUID, WorkItem]:
        handled = [item for item in items if self._registry.is_registered(item.kind)]
        return {item.id: await self._run(org_id, item) for item in handled}

    @override
    async def take_bundle(self, org_id: UUID, bundle: WorkBundle, items: Sequence[WorkItem]) -> WorkBundle | None:
        if not all(self._registry.is_registered(item.kind) for item in items):
            return None
        for item in items:
            ended = await self._run(org_id, item)
            if ended.status in SETTLED_STATUSES:
                bundle = bundling.counted(bundle, ended.status, 1, utcnow())
        follow_up = bundling.follow_up_of(bundle)
        if bundle.settled_at is not None and follow_up is not None:
            # Its key is the queue's own to give; nothing settles twice here.
            keyless = follow_up.model_copy(update={"idempotency_key": None})
            await self._managers.work.enqueue(await self._context(org_id, follow_up), keyless)
        return bundle

    async def _run(self, org_id: UUID, item: WorkItem) -> WorkItem:
        if (depth := _depth.get()) >= MAX_DEPTH:
            raise RecursionError(f"{MAX_DEPTH} items have enqueued each other in a row, the last of kind {item.kind}")
        token = _depth.set(depth + 1)
        try:
            return await self._run_once(org_id, item)
        finally:
            _depth.reset(token)

    async def _run_once(self, org_id: UUID, item: WorkItem) -> WorkItem:
        now = utcnow()
        ctx = await self._context(org_id, item)
        claim = {"status": WorkStatus.CLAIMED, "claim_token": uuid4(), "attempts": 1, "started_at": now}
        ran = await run_item(
            ctx, item.model_copy(update=claim | {"claimed_by": "inline", "lease_expires_at": now}), self._registry
        )
        self._inline.ran.append(ran)
        if self._raises and ran.error is not None and not isinstance(ran.error, Steering):
            raise ran.error
        for following in ran.settlement.then:
            await self._managers.work.enqueue(ctx, following)
        return ran.item.model_copy(update=_ended(ran.settlement, now))

    async def _context(self, org_id: UUID, item: WorkItem) -> OpContext:
        origin = WorkOrigin(org_id, item.created_by, item.request_id, item.traceparent)
        (ctx,) = await self._managers.tenancy.work_contexts(new_request(), [origin])
        if ctx is None:
            raise LookupError(f"there is no org {org_id} to run {item.kind} for")
        return ctx


def _ended(settlement: Settlement, now: datetime) -> dict[str, Any]:
    status = settlement.outcome.status
    return {
        "status": status,
        "settled_at": now if status in SETTLED_STATUSES else None,
        "result": settlement.result,
        "last_error": settlement.last_error,
        "error_code": settlement.error_code,
        "attempts": 0 if settlement.outcome.refunds_attempt else 1,
        "claim_token": None,
        "lease_expires_at": None,
    }
