"""The events manager over memory."""

import pytest

from headrace.om.base import FrozenMapping, new_id
from headrace.om.context import AppContext, AppType, OpContext, Permission, Role, SecurityContext
from headrace.om.events.impl.manager import EventsManagerImpl
from headrace.om.events.storage.impl.memory import EventsStorageMemoryImpl
from headrace.om.exceptions import NotAuthorized, ValidationFailed
from headrace.om.outbox.rows import entity_row
from headrace.om.outbox.types.outbox_row import OutboxRow


def context(*permissions: Permission) -> OpContext:
    security = SecurityContext(
        user_id=new_id(), org_id=new_id(), role=Role.VIEWER, permissions=frozenset(permissions), credential="test"
    )
    return OpContext(app=AppContext(type=AppType.TEST, version="tests"), security=security)


@pytest.fixture
def events() -> EventsManagerImpl:
    return EventsManagerImpl(EventsStorageMemoryImpl())


@pytest.fixture
def ctx() -> OpContext:
    return context(Permission.EVENTS_READ)


@pytest.fixture
def row(ctx: OpContext) -> OutboxRow:
    return entity_row(ctx, "webhook_endpoint", new_id(), "updated")


async def test_an_event_says_what_its_row_says(events: EventsManagerImpl, ctx: OpContext, row: OutboxRow) -> None:
    event = await events.append_relayed(ctx.org_id, row)
    assert (event.id, event.created_at, event.created_by) == (row.id, row.created_at, ctx.user_id)
    assert (event.entity, event.change, event.request_id) == ("webhook_endpoint", "updated", ctx.request_id)
    assert str(event.entity_id) == row.payload["entity_id"]
    assert await events.get_events(ctx, 10) == (event,)


async def test_one_event_is_left_when_a_row_is_relayed_twice(
    events: EventsManagerImpl, ctx: OpContext, row: OutboxRow
) -> None:
    first = await events.append_relayed(ctx.org_id, row)
    assert await events.append_relayed(ctx.org_id, row) == first
    assert await events.get_events(ctx, 10) == (first,)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "work.NOOP"}, "kind"),
        ({"payload": FrozenMapping({"entity": "org"})}, "payload.entity_id"),
        ({"payload": FrozenMapping({"entity": "", "entity_id": str(new_id()), "change": "x"})}, "payload.entity"),
    ],
)
async def test_nothing_is_appended_when_the_row_is_no_entity_change(
    events: EventsManagerImpl, ctx: OpContext, row: OutboxRow, change: dict[str, object], field: str
) -> None:
    with pytest.raises(ValidationFailed, match=field):
        await events.append_relayed(ctx.org_id, row.with_changes(**change))
    assert await events.get_events(ctx, 10) == ()


async def test_the_origin_of_an_event_is_the_rows_whatever_its_payload_says(
    events: EventsManagerImpl, ctx: OpContext, row: OutboxRow
) -> None:
    forged = row.with_changes(payload=FrozenMapping(row.payload.thawed() | {"id": str(new_id()), "more": 1}))
    assert (await events.append_relayed(ctx.org_id, forged)).id == row.id


async def test_events_are_refused_without_the_permission(events: EventsManagerImpl) -> None:
    with pytest.raises(NotAuthorized, match=r"events\.read"):
        await events.get_events(context(), 10)


async def test_another_tenants_events_are_not_found(events: EventsManagerImpl, ctx: OpContext, row: OutboxRow) -> None:
    await events.append_relayed(ctx.org_id, row)
    assert await events.get_events(context(Permission.EVENTS_READ), 10) == ()


@pytest.mark.parametrize("limit", [0, 1001])
async def test_a_page_is_refused_when_its_limit_is_out_of_range(
    events: EventsManagerImpl, ctx: OpContext, limit: int
) -> None:
    with pytest.raises(ValidationFailed, match="limit"):
        await events.get_events(ctx, limit)
