"""How a worker's tests bring an item to its handler: by hand, claim by claim, or through the worker's whole process."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

from headrace.infra.background.runtime import BackgroundRunner, BackgroundRuntime, ExitCode
from headrace.infra.background.stopping import StopSwitch
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.types.work_item import SETTLED_STATUSES, WorkItem
from headrace.workers.kit.container import WorkerParts

PATIENCE_SECONDS = 20
POLL_SECONDS = 0.01
LEASE = timedelta(minutes=1)


async def claimed(parts: WorkerParts, item: WorkItem) -> tuple[OpContext, WorkItem]:
    """Enqueue an item in an org of its own and claim it, as the worker's loop does; the context is the claim's."""
    rctx = _request()
    await _enqueued(parts, item)
    found = await parts.managers.work.claim(rctx, parts.settings.lane, parts.registry.kinds, "tests", LEASE)
    assert found is not None
    return found


async def handled(parts: WorkerParts, ctx: OpContext, item: WorkItem) -> Any:  # noqa: ANN401 - any JSON value
    """Give an item to its handler, its payload checked before as the loop does it; return the handler's result."""
    registered = parts.registry.find(item.kind)
    assert registered is not None
    return await registered.call(ctx, item, registered.payload_of(item))


async def worked_off[ContextT](parts: WorkerParts, runtime: BackgroundRuntime[ContextT], item: WorkItem) -> WorkItem:
    """Run a worker's whole process until it has settled the item, and stop it by event; return the item as it ended.

    Raises:
        AssertionError: The process did not show that it was ready, did not end clean, or left its files behind.
    """
    ctx, queued = await _enqueued(parts, item)
    files = [each for each in (parts.settings.readiness_file, parts.settings.heartbeat_file) if each is not None]
    switch = StopSwitch()
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        serving = group.create_task(BackgroundRunner(runtime, signals=()).serve(switch))
        settled = await _settled(parts, ctx, queued)
        assert all(each.exists() for each in files)
        switch.request()
    assert serving.result() is ExitCode.CLEAN
    assert not any(each.exists() for each in files)
    return settled


async def _enqueued(parts: WorkerParts, item: WorkItem) -> tuple[OpContext, WorkItem]:
    owner = User(name="Owner", login_name=f"owner-{uuid4().hex}")
    ctx = await parts.managers.tenancy.create_org(_request(), Org(name="Org"), owner)
    return ctx, await parts.managers.work.enqueue(ctx, item.with_changes(lane=parts.settings.lane))


async def _settled(parts: WorkerParts, ctx: OpContext, item: WorkItem) -> WorkItem:
    while (found := await parts.managers.work.get_item(ctx, item.id)).status not in SETTLED_STATUSES:  # noqa: ASYNC110 - the queue has no event
        await asyncio.sleep(POLL_SECONDS)
    return found


def _request() -> RequestContext:
    return RequestContext(app=AppContext(type=AppType.TEST, version="tests"))
