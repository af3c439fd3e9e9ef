"""The handler, each case over memory and over PostgreSQL."""

import pytest

from acme_works.om.audit.types.audit_entry import AuditFilter
from acme_works.om.base import FrozenMapping
from acme_works.om.storage.root import StorageInterface
from acme_works.om.work.exceptions import WorkPayloadRefused
from acme_works.om.work.types.kinds import WorkKind
from acme_works.om.work.types.work_item import WorkItem
from acme_works.workers.kit.container import WorkerParts
from acme_works.workers.kit.testing import infra_for_tests
from acme_works.workers.x2.container import WorkerContainer
from acme_works.workers.x2.handler import Http2PingHandlerImpl
from workers.kit.tests.working_off import claimed, handled


class HandlerCases:
    @pytest.fixture
    def parts(self, storage: StorageInterface) -> WorkerParts:
        return WorkerContainer.for_tests(storage, infra_for_tests()).parts

    async def test_a_receipt_is_left_when_an_item_is_handled(self, parts: WorkerParts, item: WorkItem) -> None:
        ctx, found = await claimed(parts, item)
        result = await handled(parts, ctx, found)
        assert result == {"receipt_id": str(item.id), "payload": item.payload.thawed()}
        (receipt,) = await parts.managers.audit.get_entries(ctx, AuditFilter(target_id=item.id), 10)
        assert (receipt.id, receipt.action, receipt.target_type) == (item.id, "work.handled", "work_item")
        assert receipt.details == {"kind": "HTTP2_PING"}

    async def test_one_receipt_is_left_when_the_same_item_is_handled_twice(
        self, parts: WorkerParts, item: WorkItem
    ) -> None:
        ctx, found = await claimed(parts, item)
        first, second = [await handled(parts, ctx, found) for _ in range(2)]
        assert first == second
        assert len(await parts.managers.audit.get_entries(ctx, AuditFilter(), 10)) == 1

    async def test_nothing_is_recorded_when_the_payload_does_not_fit(self, parts: WorkerParts, item: WorkItem) -> None:
        ctx, found = await claimed(parts, item)
        misfit = found.with_changes(payload=FrozenMapping({"no field": 1}))
        with pytest.raises(WorkPayloadRefused, match="payload"):
            await Http2PingHandlerImpl(parts.managers.audit).handle(ctx, misfit)
        assert await parts.managers.audit.get_entries(ctx, AuditFilter(), 10) == ()


class TestOverMemory(HandlerCases):
    @pytest.fixture
    def storage(self, memory_storage: StorageInterface) -> StorageInterface:
        return memory_storage


@pytest.mark.servers
class TestOverPostgres(HandlerCases):
    @pytest.fixture
    def storage(self, postgres_storage: StorageInterface) -> StorageInterface:
        return postgres_storage


def test_the_worker_handles_its_kind_and_nothing_else(memory_storage: StorageInterface) -> None:
    parts = WorkerContainer.for_tests(memory_storage, infra_for_tests()).parts
    assert parts.registry.kinds == (WorkKind.HTTP2_PING,)
