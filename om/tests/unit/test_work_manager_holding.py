"""The work manager over memory: claims and what their holders write."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.context import OpContext, Role
from headrace.om.exceptions import PlatformException, Unavailable, ValidationFailed
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work import rules
from headrace.om.work.exceptions import WorkClaimLost
from headrace.om.work.impl.holding import MAX_CLAIM
from headrace.om.work.types.handler import Refuse
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.settlement import Outcome, Renewal, Settled, Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import KINDS, LANE, LEASE, a_work_item
from om.tests.unit.work_queue import Queue


async def test_a_claim_returns_the_enqueuers_context_naming_its_request(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    assert (work_ctx.org_id, work_ctx.user_id, work_ctx.security.role) == (ctx.org_id, ctx.user_id, Role.SERVICE)
    assert (work_ctx.request_id, work_ctx.caused_by_request_id) == (queue.rctx.request_id, ctx.request_id)
    assert item.claim_token is not None


async def test_work_of_somebody_who_left_runs_as_the_platform(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    await queue.tenancy.remove_member(ctx, ctx.user_id)
    work_ctx, _ = await queue.claim()
    assert (work_ctx.org_id, work_ctx.user_id) == (ctx.org_id, EMPTY_UUID)


async def test_work_of_a_deleted_org_fails_and_never_runs(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    await queue.tenancy.delete_org(ctx)
    assert await queue.work.claim(queue.rctx, LANE, KINDS, "worker-1", LEASE) is None
    failed = await queue.work.get_item(ctx, item.id)
    assert (failed.status, failed.error_code) == (WorkStatus.FAILED, "tenant_gone")


async def test_what_a_claim_took_of_a_deleted_org_fails_however_much_else_the_org_has(
    queue: Queue, ctx: OpContext
) -> None:
    *_, urgent = items = [*(a_work_item() for _ in range(MAX_CLAIM)), a_work_item(priority=1)]
    await queue.work.enqueue_many(ctx, items)
    await queue.tenancy.delete_org(ctx)
    assert await queue.work.claim(queue.rctx, LANE, KINDS, "worker-1", LEASE) is None
    failed = await queue.work.get_item(ctx, urgent.id)
    assert (failed.status, failed.error_code, failed.last_error) == (
        WorkStatus.FAILED,
        "tenant_gone",
        rules.TENANT_GONE_ERROR,
    )
    assert queue.dead_letters == []


async def test_claims_are_handed_back_when_tenancy_cannot_answer(
    queue: Queue, ctx: OpContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object) -> Any:  # noqa: ANN401 - raises
        raise Unavailable("the core database is away")

    item = await queue.work.enqueue(ctx, a_work_item())
    monkeypatch.setattr(queue.tenancy, "work_contexts", unavailable)
    with pytest.raises(Unavailable):
        await queue.work.claim(queue.rctx, LANE, KINDS, "worker-1", LEASE)
    released = await queue.work.get_item(ctx, item.id)
    assert (released.status, released.attempts) == (WorkStatus.QUEUED, 0)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"kinds": ()}, "kinds"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"worker_id": ""}, "worker_id"),
        ({"lease": timedelta(0)}, "lease"),
        ({"lease": timedelta.max}, "lease"),
        ({"lane": "\x00"}, "lane"),
    ],
)
async def test_a_claim_that_can_take_nothing_is_refused_and_named(
    queue: Queue, changes: dict[str, Any], named: str
) -> None:
    good: dict[str, Any] = {"lane": LANE, "kinds": KINDS, "worker_id": "w", "lease": LEASE, "limit": 1}
    with pytest.raises(ValidationFailed) as refused:
        await queue.work.claim_many(queue.rctx, **good | changes)
    assert refused.value.field == named


type End = Callable[[Queue, OpContext, WorkItem], Awaitable[Any]]


ENDS: dict[str, tuple[End, WorkStatus]] = {
    "complete": (lambda q, c, i: q.work.complete(c, i, {"ok": True}), WorkStatus.DONE),
    "fail": (lambda q, c, i: q.work.fail(c, i, ValueError("boom")), WorkStatus.QUEUED),
    "refuse": (lambda q, c, i: q.work.refuse(c, i, "never"), WorkStatus.FAILED),
    "defer": (lambda q, c, i: q.work.defer(c, i, timedelta(minutes=1)), WorkStatus.QUEUED),
    "park": (lambda q, c, i: q.work.park(c, i, "waits", i.created_at + timedelta(days=1)), WorkStatus.QUEUED),
    "release": (lambda q, c, i: q.work.release(c, i, "draining"), WorkStatus.QUEUED),
}


@pytest.mark.parametrize("name", ENDS)
async def test_a_claim_ends_once_and_its_token_is_spent(queue: Queue, ctx: OpContext, name: str) -> None:
    end, status = ENDS[name]
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    await end(queue, work_ctx, item)
    after = await queue.work.get_item(ctx, item.id)
    assert (after.status, after.updated_by, after.claim_token) == (status, EMPTY_UUID, None)
    for late, _ in ENDS.values():
        with pytest.raises(WorkClaimLost):
            await late(queue, work_ctx, item)
    assert await queue.work.get_item(ctx, item.id) == after


async def test_a_lost_claim_cannot_be_renewed_or_report(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    work_ctx, item = await queue.claim()
    assert not (await queue.work.extend_lease(work_ctx, item, LEASE)).is_cancel_requested
    await queue.work.report_progress(work_ctx, item, 2.5, "beyond")
    assert (await queue.work.get_item(ctx, item.id)).progress == 1.0
    await queue.work.release(work_ctx, item)
    with pytest.raises(WorkClaimLost):
        await queue.work.extend_lease(work_ctx, item, LEASE)
    with pytest.raises(WorkClaimLost):
        await queue.work.report_progress(work_ctx, item, 0.5)


async def test_a_dead_letter_is_counted_and_named_in_the_audit(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item(max_attempts=1))
    work_ctx, claimed = await queue.claim()
    await queue.work.fail(work_ctx, claimed, ValueError("boom"))
    (entry,) = await queue.audit.get_entries(ctx, AuditFilter(action="work.dead_letter"), 10)
    assert (entry.target_id, entry.details["error_code"]) == (item.id, "ValueError")
    assert queue.dead_letters == [WorkKind.NOOP]


async def test_dead_letters_of_many_tenants_are_named_in_one_call(
    queue: Queue, ctx: OpContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await queue.owner_of_new_org()
    for each in (ctx, other, ctx):
        await queue.work.enqueue(each, a_work_item(max_attempts=1))
    claimed = await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, 3)
    calls: list[int] = []
    real = queue.audit.append_many

    async def counted(entries: Sequence[tuple[OpContext, AuditEntry]]) -> tuple[InsertOutcome, ...]:
        calls.append(len(entries))
        return await real(entries)

    monkeypatch.setattr(queue.audit, "append_many", counted)
    await queue.work.settle_many([(c, rules.failed(i, "boom")) for c, i in claimed])
    assert calls == [3]
    named = [len(await queue.audit.get_entries(each, AuditFilter(), 10)) for each in (ctx, other)]
    assert (named, len(queue.dead_letters)) == ([2, 1], 3)


async def test_settlements_stand_when_the_audit_cannot_be_written(
    queue: Queue, ctx: OpContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object) -> Any:  # noqa: ANN401 - raises
        raise Unavailable("the activity database is away")

    monkeypatch.setattr(queue.audit, "append_many", unavailable)
    await queue.work.enqueue(ctx, a_work_item(max_attempts=1))
    work_ctx, item = await queue.claim()
    (settled,) = await queue.work.settle_many([(work_ctx, rules.failed(item, "boom"))])
    assert (settled.status, queue.dead_letters) == (WorkStatus.FAILED, [WorkKind.NOOP])


async def test_settling_many_reports_each_and_one_conflict_fails_no_neighbour(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue_many(ctx, [a_work_item(max_attempts=1) for _ in range(3)])
    claimed = await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, 3)
    (c0, i0), (c1, i1), (c2, i2) = claimed
    await queue.work.release(c1, i1)
    ends = [(c0, rules.done(i0, None)), (c1, rules.done(i1, None)), (c2, rules.ended_by(i2, Refuse("never")))]
    settled = await queue.work.settle_many(ends)
    assert [each.status for each in settled] == [WorkStatus.DONE, None, WorkStatus.FAILED]
    assert queue.dead_letters == [WorkKind.NOOP]
    assert ends[2][1].outcome is Outcome.FAILED


async def test_settling_falls_back_to_rows_and_keeps_every_outcome(
    queue: Queue, ctx: OpContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(*_: object) -> Any:  # noqa: ANN401 - raises
        raise ValidationFailed("value", "something the database can hold")

    await queue.work.enqueue_many(ctx, [a_work_item() for _ in range(2)])
    claimed = await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, 2)
    with monkeypatch.context() as patched:
        real = queue.storage.get_work_storage().settle_batch
        patched.setattr(queue.storage.get_work_storage(), "settle_batch", refuses)
        patched.setattr(
            queue.storage.get_work_storage(),
            "write_item",
            lambda org_id, end: _first_of(real([(org_id, end)])),
        )
        settled = await queue.work.settle_many([(c, rules.done(i, 1)) for c, i in claimed])
    assert [each.status for each in settled] == [WorkStatus.DONE, WorkStatus.DONE]


@pytest.mark.parametrize(
    ("refusal", "statuses"),
    [
        (ValidationFailed("value", "another"), [WorkStatus.FAILED, WorkStatus.CLAIMED, WorkStatus.FAILED]),
        (Unavailable("the database is away"), [WorkStatus.FAILED, WorkStatus.CLAIMED, WorkStatus.CLAIMED]),
    ],
    ids=["refused", "unavailable"],
)
async def test_what_was_settled_row_by_row_is_named_when_a_row_is_refused(
    queue: Queue,
    ctx: OpContext,
    monkeypatch: pytest.MonkeyPatch,
    refusal: PlatformException,
    statuses: list[WorkStatus],
) -> None:
    await queue.work.enqueue_many(ctx, [a_work_item(max_attempts=1) for _ in range(3)])
    claimed = await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, 3)
    storage, bad = queue.storage.get_work_storage(), claimed[1][1].id
    real = storage.settle_batch

    async def refuses(*_: object) -> Any:  # noqa: ANN401 - raises
        raise ValidationFailed("value", "something the database can hold")

    async def write_item(org_id: UUID, end: Settlement) -> Settled:
        if end.item_id == bad:
            raise refusal
        return (await real([(org_id, end)]))[0]

    monkeypatch.setattr(storage, "settle_batch", refuses)
    monkeypatch.setattr(storage, "write_item", write_item)
    with pytest.raises(type(refusal)):
        await queue.work.settle_many([(c, rules.failed(i, "boom")) for c, i in claimed])
    assert [(await queue.work.get_item(ctx, item.id)).status for _, item in claimed] == statuses
    assert len(await queue.audit.get_entries(ctx, AuditFilter(), 10)) == statuses.count(WorkStatus.FAILED)


async def _first_of(reports: Awaitable[tuple[Any, ...]]) -> Any:  # noqa: ANN401 - one report
    return (await reports)[0]


async def test_renewing_many_returns_those_that_hold(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue_many(ctx, [a_work_item() for _ in range(2)])
    claimed = await queue.work.claim_many(queue.rctx, LANE, KINDS, "worker-1", LEASE, 2)
    await queue.work.release(*claimed[0])
    renewals = [(c, Renewal(item_id=i.id, claim_token=i.claim_token or uuid4())) for c, i in claimed]
    held = await queue.work.renew_many(renewals, LEASE)
    assert [each.item_id for each in held] == [claimed[1][1].id]
    assert await queue.work.renew_many([], LEASE) == ()


@pytest.mark.parametrize("lease", [timedelta(0), timedelta(days=365, microseconds=1), timedelta.max])
async def test_a_lease_out_of_range_is_refused_and_renews_nothing(
    queue: Queue, ctx: OpContext, lease: timedelta
) -> None:
    item = await queue.work.enqueue(ctx, a_work_item())
    held_ctx, claimed = await queue.claim()
    renewal = Renewal(item_id=item.id, claim_token=claimed.claim_token or new_id())
    for renewing in (
        queue.work.extend_lease(held_ctx, claimed, lease),
        queue.work.renew_many([(held_ctx, renewal)], lease),
    ):
        with pytest.raises(ValidationFailed, match=r"^lease: expected a duration above zero and up to 365 days"):
            await renewing
    assert (await queue.work.get_item(ctx, item.id)).lease_expires_at == claimed.lease_expires_at
