"""A settlement that was committed and whose answer never came is no conflict when it is written again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import override
from uuid import UUID, uuid4

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.context import AppContext, AppType, OpContext, RequestContext
from headrace.om.exceptions import Unavailable
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.database import Database, DriverConnection, DriverStatement, Purpose
from headrace.om.storage.impl.postgres import StoragePostgresImpl
from headrace.om.storage.options import DatabaseOptions
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.work import rules
from headrace.om.work.types.bundle import BundleStatus, FollowUp, WorkBundle
from headrace.om.work.types.handler import Done
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.work_item import WorkStatus
from om.tests.contracts.work_items import KINDS, LANE, a_work_item

pytestmark = pytest.mark.servers

RCTX = RequestContext(app=AppContext(type=AppType.TEST, version="tests@0"))


class LossyDatabase(Database):
    """Loses the answers of settlements, after they were committed."""

    num_to_lose = 0

    @asynccontextmanager
    @override
    async def driver_for(
        self, stmt: DriverStatement, *, org_id: UUID, purpose: Purpose = Purpose.MAIN
    ) -> AsyncIterator[DriverConnection]:
        async with super().driver_for(stmt, org_id=org_id, purpose=purpose) as connection:
            yield connection
        if stmt.name.startswith("settle_") and self.num_to_lose:
            self.num_to_lose -= 1
            raise Unavailable("the connection broke before the answer came")


@pytest.fixture
async def lossy(database_options: DatabaseOptions) -> AsyncIterator[LossyDatabase]:
    database = LossyDatabase(database_options)
    yield database
    await database.close()


@pytest.fixture
def managers(lossy: LossyDatabase) -> Managers:
    infra = Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl())
    return build_managers(StoragePostgresImpl(lossy), infra)


@pytest.fixture
async def ctx(managers: Managers) -> OpContext:
    return await managers.tenancy.create_org(RCTX, Org(name="Org"), User(name="Owner", login_name=uuid4().hex))


async def test_a_completion_is_no_conflict_when_its_answer_was_lost(
    lossy: LossyDatabase, managers: Managers, ctx: OpContext
) -> None:
    item = await managers.work.enqueue(ctx, a_work_item())
    claimed = await managers.work.claim(RCTX, LANE, KINDS, "worker-1", timedelta(minutes=1))
    assert claimed is not None
    lossy.num_to_lose = 2
    await managers.work.complete(*claimed, {"ok": True})
    read = await managers.work.get_item(ctx, item.id)
    assert (read.status, read.result, lossy.num_to_lose) == (WorkStatus.DONE, {"ok": True}, 0)


async def test_a_batch_is_recorded_once_when_its_answers_were_lost(
    lossy: LossyDatabase, managers: Managers, ctx: OpContext
) -> None:
    follow_up = FollowUp(kind=WorkKind.NOOP, lane="after")
    bundle = WorkBundle(kind="report", origin="tests", on_settled=follow_up)
    await managers.work.enqueue_bundle(ctx, bundle, [a_work_item() for _ in range(3)])
    await managers.work.enqueue_many(ctx, [a_work_item() for _ in range(3)])
    claimed = await managers.work.claim_many(RCTX, LANE, KINDS, "worker-1", timedelta(minutes=1), 10)
    ends = [(c, rules.done(i, Done(1, then=[a_work_item(lane="next")]))) for c, i in claimed]
    lossy.num_to_lose = 2
    settled = await managers.work.settle_many(ends)
    assert {each.status for each in settled} == {WorkStatus.DONE}
    read = await managers.work.get_bundle(ctx, bundle.id)
    assert (read.num_done, read.status) == (3, BundleStatus.SETTLED)
    assert len(await managers.work.get_items(ctx, WorkFilter(lane="next"), 100)) == 6
    assert len(await managers.work.get_items(ctx, WorkFilter(lane="after"), 100)) == 1
