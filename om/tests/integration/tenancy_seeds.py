"""One row of a tenant in every table, for tests of who sees it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from uuid import UUID

import asyncpg

from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.storage.roles import TABLE_ROLES, TABLE_SCOPES, TenancyScope

ORG_A: Final = UUID("0199a000-0000-7000-8000-00000000000a")
ORG_B: Final = UUID("0199a000-0000-7000-8000-00000000000b")

# $1 is the tenant, $2 an id of the row's own; parents come before children.
SEEDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "orgs": (
            "INSERT INTO core.orgs (id, name, created_at, created_by, updated_at, updated_by)"
            " VALUES ($1, 'org', now(), $2, now(), $2)"
        ),
        "users": (
            "INSERT INTO core.users (id, login_name, name, created_at, created_by, updated_at, updated_by)"
            " VALUES ($1, $2::uuid::text, 'user', now(), $2, now(), $2)"
        ),
        "memberships": (
            "INSERT INTO core.memberships (id, org_id, user_id, role, created_at, created_by, updated_at, updated_by)"
            " VALUES ($2, $1, $1, 'owner', now(), $2, now(), $2)"
        ),
        "api_keys": (
            "INSERT INTO core.api_keys"
            " (id, org_id, user_id, name, role, secret_hash, created_at, created_by, updated_at, updated_by)"
            " VALUES ($2, $1, $1, 'key', 'owner', sha256('secret'), now(), $2, now(), $2)"
        ),
        "outbox_rows": (
            "INSERT INTO core.outbox_rows (org_id, id, kind, payload, actor_id, request_id, created_at)"
            " VALUES ($1, $2, 'entity.changed', '{}', $2, $2, now())"
        ),
        "webhook_endpoints": (
            "INSERT INTO core.webhook_endpoints (org_id, id, name, url, secret_reference, event_types, enabled,"
            " version, num_consecutive_failures, created_at, created_by, updated_at, updated_by)"
            " VALUES ($1, $2, 'endpoint', 'https://example.test', 'ref', '{}', true, 1, 0, now(), $2, now(), $2)"
        ),
        "webhook_messages": (
            "INSERT INTO core.webhook_messages"
            " (org_id, id, event_type, body, body_bytes, num_deliveries, created_at, created_by)"
            " VALUES ($1, $2, 'thing.made', '{}', 2, 0, now(), $2)"
        ),
        "audit_entries": (
            "INSERT INTO activity.audit_entries"
            " (org_id, id, action, target_type, target_id, request_id, details, created_at, created_by)"
            " VALUES ($1, $2, 'work.dead_letter', 'work_item', $2, $2, '{}', now(), $2)"
        ),
        "events": (
            "INSERT INTO activity.events (org_id, id, entity, entity_id, change, request_id, created_at, created_by)"
            " VALUES ($1, $2, 'org', $2, 'created', $2, now(), $2)"
        ),
        "work_items": (
            "INSERT INTO queue.work_items (org_id, id, kind, lane, origin, payload, priority, available_at, status,"
            " max_attempts, created_at, created_by, updated_at, updated_by)"
            " VALUES ($1, $2, 'NOOP', 'default', 'test', '{}', 0, now(), 'queued', 3, now(), $2, now(), $2)"
        ),
        "work_bundles": (
            "INSERT INTO queue.work_bundles (org_id, id, kind, origin, num_items, status, created_at, created_by,"
            " updated_at, updated_by) VALUES ($1, $2, 'report', 'test', 2, 'open', now(), $2, now(), $2)"
        ),
        "work_controls": (
            "INSERT INTO queue.work_controls"
            " (what, scope, lane, kind, org_id, max_running, origin, created_at, updated_at)"
            " VALUES ('limit', 'org', '', '', $1, 1, $2::uuid::text, now(), now())"
        ),
        "work_schedules": (
            "INSERT INTO queue.work_schedules (org_id, id, name, kind, payload, lane, priority, cron, time_zone,"
            " missed, missed_after, overlap, is_enabled, created_at, created_by, updated_at, updated_by)"
            " VALUES ($1, $2, 'nightly', 'NOOP', '{}', 'default', 0, '0 0 * * *', 'UTC', 'one', '1 minute', 'allow',"
            " true, now(), $2, now(), $2)"
        ),
    }
)


def qualified(table: str) -> str:
    """The table's name with its schema."""
    return f"{TABLE_ROLES[table]}.{table}"


async def seed_every_table(admin: asyncpg.Connection) -> None:
    """Two tenants with one row each in every table, and the platform's own row where a table admits it."""
    for table, statement in SEEDS.items():
        orgs = (ORG_A, ORG_B, EMPTY_UUID) if TABLE_SCOPES[table] is TenancyScope.BOTH else (ORG_A, ORG_B)
        for org_id in orgs:
            await admin.execute(statement, org_id, new_id())
