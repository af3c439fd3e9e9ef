"""The handler over memory, the same item twice."""

from collections.abc import AsyncIterator

import pytest

from headrace.om.base import FrozenMapping
from headrace.om.context import AppContext, AppType, RequestContext
from headrace.om.root import Infra
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.testing import infra_for_tests
from headrace.workers.maintenance.container import WorkerContainer


@pytest.fixture
async def infra() -> AsyncIterator[Infra]:
    toolkits = infra_for_tests()
    await toolkits.start()
    yield toolkits
    await toolkits.close()


async def test_the_note_comes_back_both_times_when_the_same_item_is_handled_twice(infra: Infra) -> None:
    parts = WorkerContainer.for_tests(StorageMemoryImpl(), infra).parts
    rctx = RequestContext(app=AppContext(type=AppType.TEST, version="test"))
    ctx = await parts.managers.tenancy.create_org(rctx, Org(name="Org"), User(name="Owner", login_name="owner"))
    item = WorkItem(kind=WorkKind.NOOP, origin="test", payload=FrozenMapping({"note": "hello"}))
    queued = await parts.managers.work.enqueue(ctx, item)
    registered = parts.registry.find(WorkKind.NOOP)
    assert registered is not None
    results = [await registered.call(ctx, queued, registered.payload_of(queued)) for _ in range(2)]
    assert results == [{"note": "hello"}, {"note": "hello"}]


async def test_the_worker_handles_noop_and_nothing_else(infra: Infra) -> None:
    assert WorkerContainer.for_tests(StorageMemoryImpl(), infra).parts.registry.kinds == (WorkKind.NOOP,)
