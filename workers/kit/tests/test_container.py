from datetime import timedelta

from headrace.infra.topics.impl.in_process import TopicsInProcessImpl
from headrace.om.base import EMPTY_UUID
from headrace.om.context import RequestContext
from headrace.om.tenancy.types.work_origin import WorkOrigin
from headrace.workers.kit.backends import build_infra
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.testing import settings_for_tests
from workers.kit.tests.workbench import APP, bench

RCTX = RequestContext(app=APP)


async def test_one_call_of_the_sweep_moves_as_much_as_the_setting_says() -> None:
    async with bench(sweep_limit=2) as one:
        for _ in range(3):
            await one.managers.webhooks.publish(one.ctx, "order.created", "{}")
        (service,) = await one.managers.tenancy.service_contexts(RCTX)
        assert await one.managers.webhooks.purge_messages(service, timedelta(0)) == 2


async def test_a_change_elsewhere_shows_at_once_when_claims_are_to_remember_nothing() -> None:
    async with bench(principal_ttl="0s") as one:
        claim = WorkOrigin(one.ctx.org_id, EMPTY_UUID, None)
        assert await one.managers.tenancy.work_contexts(RCTX, [claim]) != (None,)
        await one.storage.get_tenancy_storage().delete_org(one.ctx.org_id, EMPTY_UUID, [])
        assert await one.managers.tenancy.work_contexts(RCTX, [claim]) == (None,)


def test_wake_ups_are_as_far_apart_as_the_setting_says() -> None:
    infra = build_infra(settings_for_tests(WorkerSettings, topics_backend="memory", wakeup_window="7s"))
    assert isinstance(infra.topics, TopicsInProcessImpl)
    windows = infra.wakeups._windows  # noqa: SLF001 - the arithmetic alone shows it without waiting
    windows.add("lane", 1)
    windows.take_due(0.0)
    windows.add("lane", 1)
    assert windows.next_due_at(0.0) == 7.0
