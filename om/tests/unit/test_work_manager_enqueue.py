"""The work manager over memory: enqueueing."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from headrace.om.base import new_id, utcnow
from headrace.om.context import OpContext
from headrace.om.exceptions import ValidationFailed
from headrace.om.outbox.rows import work_row
from headrace.om.work.exceptions import WorkPayloadRefused
from headrace.om.work.impl.enqueue import MAX_BULK
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_bundles import a_bundle
from om.tests.contracts.work_items import LANE, a_work_item, payload
from om.tests.unit.work_queue import Queue


async def test_enqueueing_wakes_the_lane(queue: Queue, ctx: OpContext) -> None:
    await queue.work.enqueue(ctx, a_work_item())
    woken = await asyncio.wait_for(queue.woken.get(), 5)
    assert (woken.lane, woken.num_items) == (LANE, 1)


async def test_enqueueing_for_later_wakes_nobody(queue: Queue, ctx: OpContext) -> None:
    later = a_work_item(available_at=utcnow() + timedelta(hours=1))
    await queue.work.enqueue(ctx, later)
    await queue.work.enqueue(ctx, a_work_item(lane="now"))
    assert (await asyncio.wait_for(queue.woken.get(), 5)).lane == "now"


async def test_the_copy_stamps_its_own_fields_and_keeps_id_and_timestamps(queue: Queue, ctx: OpContext) -> None:
    sent = a_work_item(
        status=WorkStatus.DONE,
        attempts=9,
        crashes=2,
        claim_token=uuid4(),
        claimed_by="me",
        created_by=new_id(),
        request_id=new_id(),
        last_error="x",
        result=1,
    )
    await queue.work.enqueue(ctx, sent)
    read = await queue.work.get_item(ctx, sent.id)
    assert (read.status, read.attempts, read.crashes, read.claim_token) == (WorkStatus.QUEUED, 0, 0, None)
    assert (read.claimed_by, read.last_error, read.result) == (None, None, None)
    assert (read.created_by, read.request_id, read.traceparent) == (ctx.user_id, ctx.request_id, ctx.traceparent)
    assert (read.id, read.created_at, read.updated_at) == (sent.id, sent.created_at, sent.updated_at)


async def test_enqueueing_again_reads_the_claimed_row_back(queue: Queue, ctx: OpContext) -> None:
    item = await queue.work.enqueue(ctx, a_work_item(idempotency_key="key"))
    _, claimed = await queue.claim()
    assert await queue.work.enqueue(ctx, item) == claimed
    assert await queue.work.enqueue(ctx, a_work_item(idempotency_key="key")) == claimed


async def test_a_bulk_enqueue_says_what_is_new_and_which_row_has_the_key(queue: Queue, ctx: OpContext) -> None:
    first = await queue.work.enqueue(ctx, a_work_item(idempotency_key="key"))
    new = a_work_item()
    enqueued = await queue.work.enqueue_many(ctx, [new, a_work_item(idempotency_key="key")])
    assert [(each.item_id, each.is_new) for each in enqueued] == [(new.id, True), (first.id, False)]


async def test_a_bulk_enqueue_with_a_misfit_writes_nothing_and_names_its_place(queue: Queue, ctx: OpContext) -> None:
    bad = a_work_item(kind=WorkKind.DELIVER_WEBHOOK, payload=payload(message_id="no uuid"))
    with pytest.raises(WorkPayloadRefused, match=r"items\[1\]\.payload\.message_id"):
        await queue.work.enqueue_many(ctx, [a_work_item(), bad])
    assert await queue.work.get_items(ctx, WorkFilter(), 10) == ()


@pytest.mark.parametrize("note", ["\x00", "\ud800"])
async def test_a_bulk_enqueue_names_the_place_when_a_payload_cannot_be_stored(
    queue: Queue, ctx: OpContext, note: str
) -> None:
    with pytest.raises(ValidationFailed, match=r"^items\[1\]\.payload"):
        await queue.work.enqueue_many(ctx, [a_work_item(), a_work_item(payload=payload(note=note))])
    assert await queue.work.get_items(ctx, WorkFilter(), 10) == ()


async def test_a_bulk_enqueue_refuses_too_many_and_repeated_ids(queue: Queue, ctx: OpContext) -> None:
    item = a_work_item()
    with pytest.raises(ValidationFailed, match=r"items\[1\]\.id"):
        await queue.work.enqueue_many(ctx, [item, item])
    with pytest.raises(ValidationFailed, match=f"at most {MAX_BULK}"):
        await queue.work.enqueue_many(ctx, [item] * (MAX_BULK + 1))
    assert await queue.work.enqueue_many(ctx, []) == ()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"origin": "a\x00b"}, "origin"),
        ({"lane": "a\x00"}, "lane"),
        ({"idempotency_key": "\x00"}, "idempotency_key"),
        ({"payload": payload(note="x" * 200_001)}, "payload.note"),
        ({"payload": payload(unknown=1)}, "payload.unknown"),
    ],
)
async def test_what_cannot_be_enqueued_is_refused_and_named(
    queue: Queue, ctx: OpContext, fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        await queue.work.enqueue(ctx, a_work_item(**fields))
    assert refused.value.field == named
    assert await queue.work.get_items(ctx, WorkFilter(), 10) == ()


async def test_a_relayed_row_meets_the_same_insert_twice(queue: Queue, ctx: OpContext) -> None:
    row = work_row(ctx, WorkKind.NOOP, {"note": "from a write"}, origin="orders")
    first = await queue.work.enqueue_relayed(ctx.org_id, row)
    second = await queue.work.enqueue_relayed(ctx.org_id, row)
    (only,) = await queue.work.get_items(ctx, WorkFilter(), 10)
    assert first.id == second.id == only.id
    assert (only.idempotency_key, only.created_by) == (str(row.id), ctx.user_id)
    assert (only.request_id, only.traceparent, only.origin) == (row.request_id, row.traceparent, "orders")


@pytest.mark.parametrize("kind", ["work.UNKNOWN", "work.", "entity.changed", "NOOP"])
async def test_a_row_of_no_known_kind_is_refused(queue: Queue, ctx: OpContext, kind: str) -> None:
    row = work_row(ctx, WorkKind.NOOP, {}, origin="orders").model_copy(update={"kind": kind})
    with pytest.raises(ValidationFailed, match="kind"):
        await queue.work.enqueue_relayed(ctx.org_id, row)


@pytest.mark.parametrize("field", ["available_at", "created_at", "updated_at"])
@pytest.mark.parametrize("instant", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
async def test_an_instant_that_cannot_be_compared_later_is_refused_and_named(
    queue: Queue, ctx: OpContext, field: str, instant: datetime
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        await queue.work.enqueue(ctx, a_work_item(**{field: instant}))
    assert refused.value.field == field


@pytest.mark.parametrize("key", ["bundle:", "bundle:1", "schedule:nightly:2026-01-01"])
async def test_a_key_that_could_be_the_queues_own_is_refused_whoever_brings_it(
    queue: Queue, ctx: OpContext, key: str
) -> None:
    mine = a_work_item(idempotency_key=key)
    held = await queue.work.enqueue(ctx, a_work_item())
    held_ctx, claimed = await queue.claim()
    asking = {
        "idempotency_key": queue.work.enqueue(ctx, mine),
        "items[0].idempotency_key": queue.work.enqueue_many(ctx, [mine]),
        "items[1].idempotency_key": queue.work.enqueue_bundle(ctx, a_bundle(2), [a_work_item(), mine]),
        "then[0].idempotency_key": queue.work.complete(held_ctx, claimed, then=[mine]),
    }
    for field, asked in asking.items():
        with pytest.raises(ValidationFailed, match="does not begin with bundle: or schedule:") as refused:
            await asked
        assert refused.value.field == field
    assert [item.id for item in await queue.work.get_items(ctx, WorkFilter(), 10)] == [held.id]
