"""The ages that sweeps ask for, over memory: what no instant can be older than is refused by name."""

from datetime import timedelta

import pytest

from headrace.infra.cache.impl.memory import CacheMemoryImpl
from headrace.infra.secrets.impl.env import SecretsEnvImpl
from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.context import AppContext, AppType, RequestContext
from headrace.om.exceptions import ValidationFailed
from headrace.om.paging import MAX_AGE
from headrace.om.root import Infra, Managers, build_managers
from headrace.om.storage.impl.memory import StorageMemoryImpl
from om.tests.contracts.tenancy_storage import org, user

RCTX = RequestContext(app=AppContext(type=AppType.TEST, version="tests"))


@pytest.fixture
def managers() -> Managers:
    infra = Infra.over(cache=CacheMemoryImpl(), topics=TopicsInProcessImpl(), secrets=SecretsEnvImpl({}))
    return build_managers(StorageMemoryImpl(), infra)


@pytest.mark.parametrize("age", [timedelta(microseconds=-1), MAX_AGE + timedelta.resolution, timedelta.max])
async def test_an_age_out_of_range_is_refused_and_named(managers: Managers, age: timedelta) -> None:
    owner = await managers.tenancy.create_org(RCTX, org(), user())
    (service,) = await managers.tenancy.service_contexts(RCTX)
    await managers.tenancy.delete_org(owner)
    for sweeping in (
        managers.work.purge_items(service, age),
        managers.work.purge_orphaned(owner.org_id, age),
        managers.webhooks.purge_messages(service, age),
        managers.outbox.purge_done(RCTX, age, 10),
        managers.tenancy.deleted_contexts(RCTX, age, 10),
        managers.tenancy.purge_org(service, age),
    ):
        with pytest.raises(ValidationFailed, match=r"^older_than: expected a duration from 0 to 36500 days"):
            await sweeping


async def test_the_oldest_that_may_be_asked_for_is_older_than_everything(managers: Managers) -> None:
    owner = await managers.tenancy.create_org(RCTX, org(), user())
    (service,) = await managers.tenancy.service_contexts(RCTX)
    await managers.tenancy.delete_org(owner)
    assert await managers.tenancy.deleted_contexts(RCTX, MAX_AGE, 10) == ()
    assert await managers.work.purge_items(service, MAX_AGE) == 0
