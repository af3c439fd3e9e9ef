"""The helpers for tests: what they take, whose work they take, and when they are refused."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.base import FrozenMapping, new_id
from headrace.om.context import OpContext
from headrace.om.exceptions import ValidationFailed
from headrace.om.outbox.rows import work_row
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.testing import captured_work, drain, ignore_bundles, ignore_work, inline_work
from headrace.om.testing.guard import OutsideOfTests
from headrace.om.testing.inline import MAX_DEPTH
from headrace.om.work.registry import HandlerRegistry
from headrace.om.work.types.bundle import BundleStatus, FollowUp, WorkBundle
from headrace.om.work.types.handler import Defer, Done
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.noop import NoopPayload
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.settlement import Outcome
from headrace.om.work.types.work_item import WorkItem, WorkStatus
from om.tests.contracts.work_items import a_work_item, payload
from om.tests.unit.work_queue import Queue

WEBHOOK = {"message_id": str(new_id()), "endpoint_id": str(new_id())}


@dataclass(frozen=True)
class Worker:
    """What the helpers that run handlers are given."""

    managers: Managers
    registry: HandlerRegistry


@pytest.fixture
async def worker() -> Any:  # noqa: ANN401 - a generator of Worker
    infra = Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl())
    await infra.start()
    yield Worker(build_managers(StorageMemoryImpl(), infra), HandlerRegistry())
    await infra.close()


@pytest.fixture
async def owner(worker: Worker) -> OpContext:
    queue = Queue()
    return await worker.managers.tenancy.create_org(queue.rctx, *Queue.new_org())


def handles(worker: Worker, act: Callable[[str], Any]) -> None:
    async def handle(payload: NoopPayload) -> object:
        return act(payload.note)

    worker.registry.register(WorkKind.NOOP, handle)


async def stored(worker: Worker, ctx: OpContext) -> tuple[WorkItem, ...]:
    return await worker.managers.work.get_items(ctx, WorkFilter(), 100)


def noted(note: str, **fields: Any) -> WorkItem:  # noqa: ANN401 - any field
    return a_work_item(payload=payload(note=note), **fields)


async def test_captured_work_is_stamped_and_not_stored(worker: Worker, owner: OpContext) -> None:
    with captured_work() as captured:
        item = await worker.managers.work.enqueue(owner, a_work_item(status=WorkStatus.DONE))
        await worker.managers.work.enqueue_many(owner, [a_work_item()])
        row = work_row(owner, WorkKind.NOOP, {"note": "relayed"}, origin="orders")
        await worker.managers.work.enqueue_relayed_many(owner.org_id, [row])
    assert [each.payload.get("note") for each in captured.of_kind(WorkKind.NOOP)] == [None, None, "relayed"]
    assert (item.status, item.created_by) == (WorkStatus.QUEUED, owner.user_id)
    assert await stored(worker, owner) == ()
    await worker.managers.work.enqueue(owner, a_work_item())
    assert len(await stored(worker, owner)) == 1


async def test_captured_bundles_come_with_their_items(worker: Worker, owner: OpContext) -> None:
    with captured_work() as captured:
        bundle = await worker.managers.work.enqueue_bundle(
            owner, WorkBundle(kind="report", origin="tests"), [noted("a"), noted("b")]
        )
    assert captured.bundles == [bundle]
    assert [each.payload["note"] for each in captured.of_bundle(bundle)] == ["a", "b"]


async def test_what_does_not_fit_is_refused_before_it_is_captured(worker: Worker, owner: OpContext) -> None:
    with captured_work() as captured, pytest.raises(ValidationFailed, match="odd"):
        await worker.managers.work.enqueue(owner, a_work_item(payload=payload(odd=1)))
    assert captured.items == []


async def test_a_bulk_enqueue_is_split_between_the_helper_and_the_queue(worker: Worker, owner: OpContext) -> None:
    items = [a_work_item(), a_work_item(kind=WorkKind.DELIVER_WEBHOOK, payload=FrozenMapping(WEBHOOK)), a_work_item()]
    with ignore_work(WorkKind.NOOP):
        enqueued = await worker.managers.work.enqueue_many(owner, items)
    assert [(each.item_id, each.is_new) for each in enqueued] == [(item.id, True) for item in items]
    assert [each.id for each in await stored(worker, owner)] == [items[1].id]


async def test_a_predicate_says_what_is_ignored(worker: Worker, owner: OpContext) -> None:
    with ignore_work(lambda item: item.lane == "dull"):
        await worker.managers.work.enqueue(owner, a_work_item(lane="dull"))
        await worker.managers.work.enqueue(owner, a_work_item())
    assert [each.lane for each in await stored(worker, owner)] == ["default"]


async def test_bundles_and_items_are_ignored_apart(worker: Worker, owner: OpContext) -> None:
    dull, other = (WorkBundle(kind=kind, origin="tests") for kind in ("dull", "other"))
    with ignore_work(), ignore_bundles(lambda bundle: bundle.kind == "dull"):
        await worker.managers.work.enqueue(owner, a_work_item())
        await worker.managers.work.enqueue_bundle(owner, dull, [a_work_item()])
        await worker.managers.work.enqueue_bundle(owner, other, [a_work_item()])
    assert [each.bundle_id for each in await stored(worker, owner)] == [other.id]


async def test_the_innermost_helper_takes_first(worker: Worker, owner: OpContext) -> None:
    with captured_work() as outer:
        with captured_work() as inner, ignore_work(lambda item: item.lane == "dull"):
            for lane in ("dull", "default"):
                await worker.managers.work.enqueue(owner, a_work_item(lane=lane))
        await worker.managers.work.enqueue(owner, a_work_item(lane="after"))
    assert [each.lane for each in inner.items] == ["default"]
    assert [each.lane for each in outer.items] == ["after"]


async def test_tests_that_run_at_once_do_not_meet(worker: Worker, owner: OpContext) -> None:
    is_inside, may_leave = asyncio.Event(), asyncio.Event()

    async def one() -> int:
        with captured_work() as captured:
            await asyncio.create_task(_enqueue())
            is_inside.set()
            await may_leave.wait()
        return len(captured.items)

    async def _enqueue() -> None:
        await worker.managers.work.enqueue(owner, a_work_item(lane="captured"))

    task = asyncio.create_task(one())
    await is_inside.wait()
    await worker.managers.work.enqueue(owner, a_work_item())
    may_leave.set()
    assert await task == 1
    assert [each.lane for each in await stored(worker, owner)] == ["default"]


async def test_inline_work_runs_with_the_works_own_context(worker: Worker, owner: OpContext) -> None:
    seen: list[OpContext] = []

    async def handle(ctx: OpContext, item: WorkItem, payload: NoopPayload) -> Done:
        seen.append(ctx)
        assert (item.attempts, item.claim_token is None) == (1, False)
        return Done(payload.note.upper(), then=[noted("next")] if payload.note == "first" else [])

    worker.registry.register(WorkKind.NOOP, handle)
    with inline_work(worker.managers, worker.registry) as inline:
        item = await worker.managers.work.enqueue(owner, noted("first"))
    assert (item.status, item.result, item.claim_token) == (WorkStatus.DONE, "FIRST", None)
    assert [each.settlement.result for each in inline.ran] == ["FIRST", "NEXT"]
    assert {(ctx.org_id, ctx.user_id, ctx.caused_by_request_id) for ctx in seen[:1]} == {
        (owner.org_id, owner.user_id, owner.request_id)
    }
    assert await stored(worker, owner) == ()


async def test_errors_of_inline_handlers_go_on_unless_they_steer(worker: Worker, owner: OpContext) -> None:
    def act(note: str) -> None:
        raise Defer(timedelta(hours=1)) if note == "defer" else ValueError(note)

    handles(worker, act)
    with inline_work(worker.managers, worker.registry):
        deferred = await worker.managers.work.enqueue(owner, noted("defer"))
        with pytest.raises(ValueError, match="boom"):
            await worker.managers.work.enqueue(owner, noted("boom"))
    assert (deferred.status, deferred.attempts) == (WorkStatus.QUEUED, 0)
    with inline_work(worker.managers, worker.registry, raises=False) as inline:
        failed = await worker.managers.work.enqueue(owner, noted("boom", max_attempts=1))
    assert (failed.status, failed.error_code, inline.outcomes) == (WorkStatus.FAILED, "ValueError", [Outcome.FAILED])


async def test_an_inline_bundle_counts_and_is_followed(worker: Worker, owner: OpContext) -> None:
    handles(worker, lambda note: note)
    follow_up = FollowUp(kind=WorkKind.NOOP, payload=payload(note="after"))
    bundle = WorkBundle(kind="report", origin="tests", on_settled=follow_up)
    with inline_work(worker.managers, worker.registry) as inline:
        ended = await worker.managers.work.enqueue_bundle(owner, bundle, [noted("a"), noted("b")])
    assert (ended.num_done, ended.status) == (2, BundleStatus.SETTLED)
    assert [each.settlement.result for each in inline.ran] == ["a", "b", "after"]


async def test_work_without_a_handler_goes_to_the_queue(worker: Worker, owner: OpContext) -> None:
    bundle = WorkBundle(kind="report", origin="tests")
    with inline_work(worker.managers, worker.registry) as inline:
        await worker.managers.work.enqueue(owner, a_work_item())
        await worker.managers.work.enqueue_bundle(owner, bundle, [a_work_item()])
    assert inline.ran == []
    assert len(await stored(worker, owner)) == 2


async def test_inline_work_that_enqueues_itself_without_end_is_stopped(worker: Worker, owner: OpContext) -> None:
    async def handle(ctx: OpContext, payload: NoopPayload) -> None:
        await worker.managers.work.enqueue(ctx, noted(payload.note))

    worker.registry.register(WorkKind.NOOP, handle)
    with (
        inline_work(worker.managers, worker.registry) as inline,
        pytest.raises(RecursionError, match=f"{MAX_DEPTH} items"),
    ):
        await worker.managers.work.enqueue(owner, noted("again"))
    assert len(inline.ran) == MAX_DEPTH


async def test_draining_ends_items_as_a_worker_does(worker: Worker, owner: OpContext) -> None:
    def act(note: str) -> object:
        if note == "boom":
            raise ValueError(note)
        return Done(note, then=[noted("next")] if note == "first" else [])

    handles(worker, act)
    for note in ("first", "boom"):
        await worker.managers.work.enqueue(owner, noted(note))
    ran = await drain(worker)
    assert sorted(each.outcome for each in ran) == [Outcome.DONE, Outcome.DONE, Outcome.RETRY]
    assert [each.error is None for each in ran].count(False) == 1
    statuses = {each.payload["note"]: each.status for each in await stored(worker, owner)}
    assert statuses == {"first": WorkStatus.DONE, "next": WorkStatus.DONE, "boom": WorkStatus.QUEUED}
    assert await drain(worker) == ()


async def test_draining_gives_up_on_work_without_end(worker: Worker, owner: OpContext) -> None:
    handles(worker, lambda note: Done(note, then=[noted(note)]))
    await worker.managers.work.enqueue(owner, noted("again"))
    with pytest.raises(RecursionError, match="more than 20 items"):
        await drain(worker, limit=20)


async def test_every_helper_is_refused_outside_of_tests(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    monkeypatch.setenv("HEADRACE_ENVIRONMENT", "production")
    helpers: list[Callable[[], Any]] = [
        captured_work,
        ignore_work,
        ignore_bundles,
        lambda: inline_work(worker.managers, worker.registry),
    ]
    for helper in helpers:
        with pytest.raises(OutsideOfTests), helper():
            pass
    with pytest.raises(OutsideOfTests):
        await drain(worker)
    monkeypatch.setenv("HEADRACE_ENVIRONMENT", "test")
    with captured_work():
        pass
