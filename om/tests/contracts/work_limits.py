"""What the cases of limits, rates and races share."""

import asyncio
from typing import Any
from uuid import UUID

from headrace.om.work import rules
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.control import LimitScope, WorkLimit
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import ClaimedRow
from om.tests.contracts.work_items import KINDS, LEASE, WorkStorageCases

LANES = tuple(f"lane-{number}" for number in range(8))

SLOW = 0.001
"""A rate that fills nothing while a test runs."""


def kind_limit(max_running: int, kind: WorkKind = WorkKind.NOOP) -> WorkLimit:
    return WorkLimit(scope=LimitScope.KIND, kind=kind, max_running=max_running)


def org_limit(max_running: int, org_id: UUID | None = None, kind: WorkKind | None = None) -> WorkLimit:
    return WorkLimit(scope=LimitScope.ORG, org_id=org_id, kind=kind, max_running=max_running)


def key_limit(max_running: int) -> WorkLimit:
    return WorkLimit(scope=LimitScope.KEY, kind=WorkKind.NOOP, max_running=max_running)


class LimitedCases(WorkStorageCases):
    async def end(self, storage: WorkStorageInterface, row: ClaimedRow) -> None:
        assert (await storage.write_item(row.org_id, rules.done(row.item, None))).is_recorded

    async def raced(self, storage: WorkStorageInterface, org_id: UUID, **fields: Any) -> list[ClaimedRow]:  # noqa: ANN401 - any field
        """What eight claimers take at once, each in a lane of its own."""
        for lane in LANES:
            await self.put_many(storage, org_id, 10, lane=lane, **fields)
        batches = await asyncio.gather(*(storage.claim_batch(lane, KINDS, f"w-{lane}", LEASE, 3) for lane in LANES))
        return [row for batch in batches for row in batch]
