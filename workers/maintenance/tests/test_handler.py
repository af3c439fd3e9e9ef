"""The handler over memory, the same item twice."""

import pytest

from headrace.om.base import FrozenMapping
from headrace.om.storage.impl.memory import StorageMemoryImpl
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.container import WorkerParts
from headrace.workers.kit.testing import infra_for_tests
from headrace.workers.maintenance.container import WorkerContainer
from workers.kit.tests.working_off import claimed, handled


@pytest.fixture
def parts() -> WorkerParts:
    return WorkerContainer.for_tests(StorageMemoryImpl(), infra_for_tests()).parts


async def test_the_note_comes_back_both_times_when_the_same_item_is_handled_twice(parts: WorkerParts) -> None:
    item = WorkItem(kind=WorkKind.NOOP, origin="test", payload=FrozenMapping({"note": "hello"}))
    ctx, found = await claimed(parts, item)
    assert [await handled(parts, ctx, found) for _ in range(2)] == [{"note": "hello"}, {"note": "hello"}]


def test_the_worker_handles_its_kind_and_nothing_else(parts: WorkerParts) -> None:
    assert parts.registry.kinds == (WorkKind.NOOP,)
