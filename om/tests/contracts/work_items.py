"""Good work items and contexts for tests: a case names only the field that it is about."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from headrace.om.base import FrozenMapping, new_id, utcnow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow
from headrace.om.work.types.settlement import Renewal, Settlement
from headrace.om.work.types.work_item import WorkItem, WorkStatus

LANE = "default"
KINDS = (WorkKind.NOOP,)
LEASE = timedelta(minutes=5)
NO_LEASE = timedelta(microseconds=1)
"""Has passed by the next statement."""


def a_work_item(**fields: Any) -> WorkItem:  # noqa: ANN401 - any field
    return WorkItem.model_validate({"kind": WorkKind.NOOP, "origin": "tests", "lane": LANE} | fields)


def in_past(**ago: float) -> Any:  # noqa: ANN401 - an instant
    return utcnow() - timedelta(**ago)


async def claim_one(storage: WorkStorageInterface, lease: timedelta = LEASE, **where: Any) -> ClaimedRow:  # noqa: ANN401
    claimed = await storage.claim_next(where.get("lane", LANE), where.get("kinds", KINDS), "worker-1", lease)
    assert claimed is not None
    return claimed


def payload(**content: Any) -> FrozenMapping:  # noqa: ANN401 - any JSON
    return FrozenMapping(content)


MAX_CRASHES = 3
BOTH_KINDS = (WorkKind.NOOP, WorkKind.DELIVER_WEBHOOK)


def renewal_of(item: WorkItem) -> Renewal:
    assert item.claim_token is not None
    return Renewal(item_id=item.id, claim_token=item.claim_token)


def with_other_token(settlement: Settlement) -> Settlement:
    """Return the end of the same item under a claim that it never had."""
    return settlement.model_copy(update={"claim_token": uuid4(), "settlement_id": new_id()})


class WorkStorageCases:
    """What the cases of the work storage's contract share."""

    @pytest.fixture
    def org_id(self) -> UUID:
        return new_id()

    @pytest.fixture
    def other_org(self) -> UUID:
        return new_id()

    async def put(self, storage: WorkStorageInterface, org_id: UUID, **fields: Any) -> WorkItem:  # noqa: ANN401
        item = a_work_item(**fields)
        assert await storage.create_item(org_id, item) is InsertOutcome.INSERTED
        return item

    async def put_many(
        self,
        storage: WorkStorageInterface,
        org_id: UUID,
        num_items: int,
        **fields: Any,  # noqa: ANN401 - any field
    ) -> list[WorkItem]:
        items = [a_work_item(**fields) for _ in range(num_items)]
        await storage.create_items(org_id, items)
        return items

    async def status_of(self, storage: WorkStorageInterface, org_id: UUID, item_id: UUID) -> WorkStatus:
        item = await storage.read_item(org_id, item_id)
        assert item is not None
        return item.status
