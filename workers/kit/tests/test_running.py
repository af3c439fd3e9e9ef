import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, override

import pytest

from headrace.infra.boot.log_context import current_log_context
from headrace.om.context import OpContext
from headrace.om.exceptions import NotFound
from headrace.om.work import rules
from headrace.om.work.types.handler import Defer, Done, Park, Refuse, RetryLater
from headrace.om.work.types.settlement import Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from headrace.workers.kit.claims import current_claim
from headrace.workers.kit.threads import run_in_thread
from workers.kit.tests.workbench import Bench, Doing, bench, until


def raising(error: BaseException) -> Callable[[OpContext, WorkItem], Any]:
    def act(_ctx: OpContext, _item: WorkItem) -> None:
        raise error

    return act


async def ran(one: Bench, **fields: Any) -> WorkItem:  # noqa: ANN401 - any field of an item
    """Run one item to whatever end its handler gives it, and return it."""
    (item,) = await one.enqueue(**fields)
    before = one.storage.work.settlements.num_calls
    async with one.running("settling", "claiming"):
        await until(lambda: one.storage.work.settlements.num_calls > before, "a settlement")
        await until(lambda: one.loop.core.held.num_held == 0, "the settlement is written")
    return await one.read(item)


async def test_the_result_is_kept_when_the_handler_returns() -> None:
    async with bench(Doing(act=lambda _ctx, _item: {"answer": 42})) as one:
        item = await ran(one)
    assert (item.status, item.result) == (WorkStatus.DONE, {"answer": 42})


async def test_the_attempt_is_counted_and_the_item_waits_when_the_handler_fails() -> None:
    async with bench(Doing(act=raising(RuntimeError("boom")))) as one:
        item = await ran(one)
    assert (item.status, item.attempts, item.error_code) == (WorkStatus.QUEUED, 1, "RuntimeError")
    assert "boom" in (item.last_error or "")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError("not mine")])
async def test_only_the_item_fails_when_its_handler_raises_what_ends_processes(error: BaseException) -> None:
    async with bench(Doing(act=raising(error))) as one:
        item = await ran(one, max_attempts=1)
        assert (item.status, item.error_code) == (WorkStatus.FAILED, type(error).__name__)
        one.doing.act = None
        assert (await ran(one)).status is WorkStatus.DONE


@pytest.mark.parametrize("inner", [SystemExit(3), asyncio.CancelledError()])
async def test_the_attempt_counts_when_the_text_of_the_error_ends_processes(inner: BaseException) -> None:
    class UnreadableError(Exception):
        @override
        def __str__(self) -> str:
            raise inner

    async with bench(Doing(act=raising(UnreadableError()))) as one:
        item = await ran(one, max_attempts=1)
        assert (item.status, item.attempts) == (WorkStatus.FAILED, 1)


async def test_the_attempt_counts_when_the_handler_began_and_its_task_left_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_item: WorkItem, _error: BaseException) -> Settlement:
        raise SystemExit(3)

    monkeypatch.setattr(rules, "ended_by", refuse)
    async with bench(Doing(act=raising(RuntimeError("boom")))) as one:
        item = await ran(one, max_attempts=1)
        assert (item.status, item.attempts) == (WorkStatus.FAILED, 1)


async def test_only_the_item_fails_when_its_handler_cancels_its_own_task() -> None:
    async def cancel_myself(_ctx: OpContext, _item: WorkItem) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async with bench(Doing(act=cancel_myself)) as one:
        item = await ran(one, max_attempts=1)
    assert (item.status, item.error_code) == (WorkStatus.FAILED, "CancelledError")


@pytest.mark.parametrize(
    ("error", "status", "attempts"),
    [
        (RetryLater(after=timedelta(hours=1)), WorkStatus.QUEUED, 1),
        (Defer(timedelta(hours=1)), WorkStatus.QUEUED, 0),
        (Park("waits for a person", datetime(2999, 1, 1, tzinfo=UTC)), WorkStatus.QUEUED, 0),
        (Refuse("never", code="gone"), WorkStatus.FAILED, 1),
        (NotFound("no such record"), WorkStatus.FAILED, 1),
    ],
)
async def test_the_item_ends_as_steered_when_the_handler_raises_that(
    error: Exception, status: WorkStatus, attempts: int
) -> None:
    async with bench(Doing(act=raising(error))) as one:
        item = await ran(one)
    assert (item.status, item.attempts) == (status, attempts)


async def test_the_attempt_fails_when_the_handler_takes_too_long() -> None:
    async with bench(Doing(gate=asyncio.Event()), handler_timeouts={"NOOP": "10ms"}) as one:
        item = await ran(one, max_attempts=1)
    assert (item.status, item.error_code) == (WorkStatus.FAILED, "handler_timeout")


async def test_the_handlers_own_timeout_is_no_handler_timeout_when_it_is_raised() -> None:
    async with bench(Doing(act=raising(TimeoutError("of its own")))) as one:
        item = await ran(one)
    assert item.error_code == "TimeoutError"


async def test_the_item_is_refused_when_its_payload_fits_no_longer() -> None:
    async with bench() as one:
        (item,) = await one.enqueue(payload={"note": "fits"})
        rows = one.storage.work._table.rows  # noqa: SLF001 - an older release wrote the row
        rows[one.ctx.org_id, item.id] = (await one.read(item)).with_changes(payload={"unknown": 1})
        async with one.running("settling", "claiming"):
            refused = await one.until_status(item, WorkStatus.FAILED)
    assert one.doing.num_started == 0
    assert (refused.error_code, "payload.unknown" in (refused.last_error or "")) == ("work_payload_refused", True)


async def test_the_item_is_cancelled_when_that_was_asked_for_while_it_runs() -> None:
    async with bench(Doing(gate=asyncio.Event()), renewal_interval="5ms") as one:
        (item,) = await one.enqueue()
        async with one.running("renewal", "settling", "claiming"):
            await until(lambda: one.doing.num_started == 1, "it runs")
            await one.managers.work.cancel(one.ctx, item.id)
            await one.until_status(item, WorkStatus.CANCELLED)


async def test_the_handler_sees_its_claim_when_it_runs_in_a_task_or_a_thread() -> None:
    seen: list[object] = []

    async def act(_ctx: OpContext, item: WorkItem) -> None:
        seen.append(current_claim().item.id == item.id)
        seen.append(await run_in_thread(lambda: current_claim().token == item.claim_token))
        seen.append(current_claim().deadline > datetime.now(UTC))

    async with bench(Doing(act=act)) as one:
        await ran(one)
    assert seen == [True, True, True]
    with pytest.raises(LookupError):
        current_claim()


async def test_progress_is_seen_while_the_handler_runs() -> None:
    seen: list[tuple[float | None, str | None]] = []

    async def report(ctx: OpContext, item: WorkItem) -> None:
        await one.managers.work.report_progress(ctx, item, 0.5, "half of it")
        now = await one.read(item)
        seen.append((now.progress, now.progress_note))

    async with bench(Doing(act=report)) as one:
        assert (await ran(one)).status is WorkStatus.DONE
    assert seen == [(0.5, "half of it")]


async def test_log_lines_carry_the_items_identifiers_when_its_handler_runs() -> None:
    seen: list[dict[str, str]] = []
    async with bench(Doing(act=lambda _ctx, _item: seen.append(dict(current_log_context())))) as one:
        item = await ran(one)
    assert seen[0]["item_id"] == str(item.id)
    assert seen[0]["caused_by_request_id"] == str(one.ctx.request_id)
    assert not current_log_context()


async def test_more_work_follows_when_the_handler_asks_for_it() -> None:
    following = Bench.item(lane="next", priority=3)
    async with bench(Doing(act=lambda _ctx, _item: Done({"ok": True}, then=[following]))) as one:
        item = await ran(one)
        assert (item.status, item.result) == (WorkStatus.DONE, {"ok": True})
        queued = await one.managers.work.get_item(one.ctx, following.id)
        assert (queued.lane, queued.priority, queued.created_by) == ("next", 3, one.ctx.user_id)


async def test_the_item_fails_with_the_sentence_when_what_follows_does_not_fit() -> None:
    odd = Bench.item(payload={"odd": 1})
    async with bench(Doing(act=lambda _ctx, _item: Done(then=[odd]))) as one:
        item = await ran(one)
        assert item.status is WorkStatus.FAILED
        assert "then[0].payload.odd" in (item.last_error or "")
        assert one.count("headrace_settlements_total", outcome="failed") == 1


async def test_a_dead_letter_is_told_and_counted_when_an_item_fails_for_good(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "headrace.workers.kit")
    async with bench(Doing(act=raising(Refuse("broken for ever")))) as one:
        await ran(one)
        assert one.count("headrace_settlements_total", outcome="failed") == 1
    assert "broken for ever" in caplog.text


async def test_an_attempt_that_is_not_the_last_is_a_warning_when_it_fails(caplog: pytest.LogCaptureFixture) -> None:
    async with bench(Doing(act=raising(RuntimeError("boom")))) as one:
        for max_attempts in (2, 1):
            await ran(one, max_attempts=max_attempts)
    told = [each.levelname for each in caplog.records if each.name.endswith("kit.running") and "boom" in each.message]
    assert told == ["WARNING", "ERROR"]
