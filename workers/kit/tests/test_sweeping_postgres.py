"""A whole pass of the sweep over PostgreSQL: what is left of an org that was deleted."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from headrace.infra.background.signals import ReadinessState
from headrace.om.base import utcnow
from headrace.om.context import OpContext, RequestContext, Role
from headrace.om.root import Managers
from headrace.om.storage.roles import TABLE_ROLES, DatabaseRole
from headrace.om.storage.settings import StorageSettings
from headrace.om.webhooks.rules import secret_name
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.work_item import WorkItem
from headrace.workers.kit.container import WorkerParts, build_parts
from headrace.workers.kit.server import MetricsServerTask, probe_server
from headrace.workers.kit.settings import WorkerSettings
from headrace.workers.kit.wiring import build_core, build_work_loop
from om.tests.contracts.tenancy_storage import org, user
from workers.kit.tests.workbench import APP

pytestmark = pytest.mark.servers

RETENTIONS = ("settled_items", "done_outbox_rows", "webhook_messages", "deleted_records")
PURGED = [table for table, role in TABLE_ROLES.items() if role is not DatabaseRole.ACTIVITY and table != "users"]


@pytest.fixture
async def parts(storage_settings: StorageSettings) -> AsyncIterator[WorkerParts]:
    own = {name: getattr(storage_settings, name) for name in StorageSettings.model_fields}
    at_once = {f"retain_{each}": "0s" for each in RETENTIONS}
    small: dict[str, object] = {"capacity": 5, "metrics_port": 0, "sweep_limit": 2, "topics_backend": "memory"}
    built = build_parts(WorkerSettings.model_validate(own | at_once | small), lambda *_: None)
    await built.infra.start()
    yield built
    await built.infra.close()
    await built.storage.close()


async def org_with_everything(managers: Managers) -> OpContext:
    """An org with a row in every table; one of its items is due in a year."""
    ctx = await managers.tenancy.create_org(RequestContext(app=APP), org(), user())
    await managers.tenancy.issue_api_key(ctx, "ci", Role.MEMBER)
    reference = f"env:{secret_name(ctx.org_id, 'HOOK')}"
    wanted = WebhookEndpoint(name="shop", url="https://example.com/", secret_reference=reference)
    await managers.webhooks.add_endpoint(ctx, wanted)
    for _ in range(3):
        await managers.webhooks.publish(ctx, "order.created", "{}")
    late = WorkItem(kind=WorkKind.NOOP, origin="tests", available_at=utcnow() + timedelta(days=365))
    await managers.work.enqueue(ctx, late)
    return ctx


async def num_rows(admin: asyncpg.Connection, table: str, org_id: UUID) -> int:
    key = "id" if table == "orgs" else "org_id"
    count = f"SELECT count(*) FROM {TABLE_ROLES[table]}.{table} WHERE {key} = $1"  # noqa: S608 - a table of the map
    found: int = await admin.fetchval(count, org_id)
    return found


async def test_nothing_of_a_deleted_org_is_left_but_what_was_told_of_it(
    parts: WorkerParts, admin_connection: asyncpg.Connection
) -> None:
    gone, kept = [await org_with_everything(parts.managers) for _ in range(2)]
    await parts.managers.tenancy.delete_org(gone)
    core = build_core(parts)
    server = probe_server(core, ReadinessState(), host="127.0.0.1", port=0)
    assert await build_work_loop(parts, core, MetricsServerTask(server)).sweep.sweep(asyncio.Event())
    assert {table: await num_rows(admin_connection, table, gone.org_id) for table in PURGED} == dict.fromkeys(PURGED, 0)
    assert await admin_connection.fetchval("SELECT count(*) FROM core.users WHERE id = $1", gone.user_id) == 0
    assert await num_rows(admin_connection, "events", gone.org_id) > 0
    for table in ("orgs", "memberships", "api_keys", "webhook_endpoints", "work_items"):
        assert await num_rows(admin_connection, table, kept.org_id) > 0
