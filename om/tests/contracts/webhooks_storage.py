"""What every webhooks storage must do; a subclass gives the storage and the outbox that its writes land rows in."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.webhooks.storage import WebhooksStorageInterface
from headrace.om.webhooks.types.endpoint import WebhookEndpoint
from headrace.om.webhooks.types.message import WebhookMessage, WebhookMessageHead

ORG = new_id()
OTHER_ORG = new_id()
HOLD = timedelta(minutes=1)
NUM_RACERS = 8

ODD_BODY = '{ "b":1.0,\t"a" : "\\u0000 \\ud83d é e\u0301 👩\u200d🚀 \u202e\u2028 \U0001d54f", "a":[ ] }\r\n'
"""JSON whose bytes any re-encoding would change."""


def endpoint_with(**fields: Any) -> WebhookEndpoint:  # noqa: ANN401 - any field's value
    """Return a good endpoint, with some fields as given."""
    good = {"name": "orders", "url": "https://example.com/hook", "secret_reference": "env:HOOK"}
    return WebhookEndpoint.model_validate(good | fields)


def message_with(**fields: Any) -> WebhookMessage:  # noqa: ANN401 - any field's value
    """Return a good message, with some fields as given."""
    body = fields.get("body", "{}")
    good = {"event_type": "order.created", "body": body, "body_bytes": len(body.encode()), "num_deliveries": 1}
    return WebhookMessage.model_validate(good | fields)


def outbox_row() -> OutboxRow:
    """Return a row that a write may land."""
    return OutboxRow(kind="entity.changed", actor_id=new_id(), request_id=new_id())


class WebhooksStorageContract:
    """The cases; `webhooks` and `outbox` are fixtures of the subclass."""

    async def _landed(self, outbox: OutboxStorageInterface) -> list[tuple[UUID, UUID]]:
        return [(org_id, row.id) for org_id, row in await outbox.take_pending(100, HOLD)]

    async def _added(self, webhooks: WebhooksStorageInterface, **fields: Any) -> WebhookEndpoint:  # noqa: ANN401 - any field's value
        endpoint = endpoint_with(**fields)
        assert await webhooks.create_endpoint(ORG, endpoint, ()) is InsertOutcome.INSERTED
        return endpoint

    async def test_endpoint_is_read_back_equal_when_it_was_created(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint = await self._added(
            webhooks, event_types=("order.created", "order.paid"), created_by=new_id(), updated_by=new_id()
        )
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint

    async def test_rows_land_with_the_endpoint_when_it_is_created(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        row = outbox_row()
        await webhooks.create_endpoint(ORG, endpoint_with(), (row,))
        assert await self._landed(outbox) == [(ORG, row.id)]

    async def test_nothing_is_written_when_the_endpoint_is_there_already(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks)
        again = endpoint.with_changes(name="another")
        assert await webhooks.create_endpoint(ORG, again, (outbox_row(),)) is InsertOutcome.ID_EXISTS
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint
        assert await self._landed(outbox) == []

    async def test_two_tenants_may_use_one_id_when_they_add_endpoints(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint = await self._added(webhooks)
        theirs = endpoint.with_changes(name="theirs")
        assert await webhooks.create_endpoint(OTHER_ORG, theirs, ()) is InsertOutcome.INSERTED
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint

    async def test_nothing_is_read_when_there_is_no_endpoint(self, webhooks: WebhooksStorageInterface) -> None:
        assert await webhooks.read_endpoint(ORG, new_id()) is None

    async def test_endpoints_come_in_pages_when_a_limit_is_given(self, webhooks: WebhooksStorageInterface) -> None:
        ids = [(await self._added(webhooks)).id for _ in range(5)]
        first = await webhooks.read_endpoints(ORG, 3)
        second = await webhooks.read_endpoints(ORG, 3, after=first[-1].id)
        assert [each.id for each in first + second] == sorted(ids)

    async def test_endpoints_are_counted_when_some_are_disabled(self, webhooks: WebhooksStorageInterface) -> None:
        await self._added(webhooks)
        await self._added(webhooks, enabled=False, disabled_reason="off")
        assert await webhooks.count_endpoints(ORG) == 2

    @pytest.mark.parametrize("event_type", ["order.created", "order", "order.created.late", "%", "user.invited"])
    async def test_endpoints_are_those_that_want_the_event_when_they_are_filtered(
        self, webhooks: WebhooksStorageInterface, event_type: str
    ) -> None:
        endpoints = [
            await self._added(webhooks),
            await self._added(webhooks, event_types=("order.created",)),
            await self._added(webhooks, event_types=("user.invited", "order")),
            await self._added(webhooks, event_types=("order.created",), enabled=False),
            await self._added(webhooks, enabled=False),
        ]
        found = await webhooks.read_endpoints_wanting(ORG, event_type, 10)
        assert [each.id for each in found] == [each.id for each in endpoints if each.wants(event_type)]

    async def test_wanting_endpoints_are_bounded_when_a_limit_is_given(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        ids = [(await self._added(webhooks)).id for _ in range(3)]
        found = await webhooks.read_endpoints_wanting(ORG, "order.created", 2)
        assert [each.id for each in found] == sorted(ids)[:2]

    async def test_endpoint_is_overwritten_when_its_version_is_the_expected_one(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks, created_by=new_id())
        changed = endpoint.with_changes(enabled=False, disabled_reason="gone", version=2, event_types=("a.b",))
        row = outbox_row()
        assert await webhooks.write_endpoint(ORG, changed, 1, (row,))
        assert await webhooks.read_endpoint(ORG, endpoint.id) == changed
        assert await self._landed(outbox) == [(ORG, row.id)]

    async def test_maker_stays_when_an_endpoint_is_overwritten(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint = await self._added(webhooks, created_by=new_id())
        forged = endpoint.with_changes(
            version=2, created_by=new_id(), created_at=endpoint.created_at - timedelta(days=1)
        )
        assert await webhooks.write_endpoint(ORG, forged, 1, ())
        stored = await webhooks.read_endpoint(ORG, endpoint.id)
        assert stored == endpoint.with_changes(version=2)

    async def test_nothing_is_written_when_the_version_is_another(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks, version=3)
        assert not await webhooks.write_endpoint(ORG, endpoint.with_changes(version=3, name="x"), 2, (outbox_row(),))
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint
        assert await self._landed(outbox) == []

    async def test_one_write_wins_when_several_expect_one_version(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks)
        racers = [endpoint.with_changes(version=2, name=f"racer {number}") for number in range(NUM_RACERS)]
        won = await asyncio.gather(*(webhooks.write_endpoint(ORG, each, 1, (outbox_row(),)) for each in racers))
        assert won.count(True) == 1
        assert await webhooks.read_endpoint(ORG, endpoint.id) == racers[won.index(True)]
        assert len(await self._landed(outbox)) == 1

    async def test_one_create_wins_when_several_have_one_endpoint_id(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint = endpoint_with()
        outcomes = await asyncio.gather(*(webhooks.create_endpoint(ORG, endpoint, ()) for _ in range(NUM_RACERS)))
        assert outcomes.count(InsertOutcome.INSERTED) == 1
        assert outcomes.count(InsertOutcome.ID_EXISTS) == NUM_RACERS - 1

    async def test_failures_add_up_when_they_are_counted_in_a_row(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint = await self._added(webhooks)
        first = await webhooks.count_failure(ORG, endpoint.id, 1)
        second = await webhooks.count_failure(ORG, endpoint.id, 2)
        assert first is not None
        assert second is not None
        assert (first.endpoint.num_consecutive_failures, second.endpoint.num_consecutive_failures) == (1, 2)
        assert (first.endpoint.version, second.endpoint.version) == (2, 3)
        assert await webhooks.read_endpoint(ORG, endpoint.id) == second.endpoint

    async def test_failing_is_measured_from_the_first_failure_when_more_follow(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks)
        first = await webhooks.count_failure(ORG, endpoint.id, 1)
        second = await webhooks.count_failure(ORG, endpoint.id, 2)
        assert first is not None
        assert second is not None
        assert first.failing_for == timedelta(0)
        assert first.endpoint.failing_since is not None
        assert second.endpoint.failing_since == first.endpoint.failing_since
        assert second.failing_for >= timedelta(0)

    async def test_failing_for_days_is_said_when_the_first_failure_is_days_ago(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        began_at = endpoint_with().created_at - timedelta(days=2)
        endpoint = await self._added(webhooks, num_consecutive_failures=4, failing_since=began_at)
        counted = await webhooks.count_failure(ORG, endpoint.id, 1)
        assert counted is not None
        assert timedelta(days=2) <= counted.failing_for < timedelta(days=2, hours=1)
        assert counted.endpoint.num_consecutive_failures == 5

    @pytest.mark.parametrize(("enabled", "expected_version"), [(False, 1), (True, 2)])
    async def test_no_failure_is_counted_when_the_endpoint_is_disabled_or_changed(
        self, webhooks: WebhooksStorageInterface, *, enabled: bool, expected_version: int
    ) -> None:
        endpoint = await self._added(webhooks, enabled=enabled)
        assert await webhooks.count_failure(ORG, endpoint.id, expected_version) is None
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint

    async def test_one_failure_is_counted_when_several_expect_one_version(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks)
        counts = await asyncio.gather(*(webhooks.count_failure(ORG, endpoint.id, 1) for _ in range(NUM_RACERS)))
        assert sum(each is not None for each in counts) == 1
        stored = await webhooks.read_endpoint(ORG, endpoint.id)
        assert stored is not None
        assert stored.num_consecutive_failures == 1

    @pytest.mark.parametrize(
        "body", ["{}", ODD_BODY, '"' + "x" * (1024 * 1024 - 2) + '"'], ids=["small", "odd", "large"]
    )
    async def test_body_is_read_back_byte_for_byte_when_a_message_was_created(
        self, webhooks: WebhooksStorageInterface, body: str
    ) -> None:
        message = message_with(body=body, created_by=new_id())
        assert await webhooks.create_message(ORG, message, ()) is InsertOutcome.INSERTED
        stored = await webhooks.read_message(ORG, message.id)
        assert stored == message
        assert stored is not None
        assert stored.body.encode() == body.encode()

    async def test_rows_land_with_the_message_when_it_is_created(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        rows = (outbox_row(), outbox_row())
        await webhooks.create_message(ORG, message_with(), rows)
        assert sorted(await self._landed(outbox)) == sorted((ORG, row.id) for row in rows)

    async def test_nothing_is_written_when_the_message_is_there_already(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        message = message_with()
        await webhooks.create_message(ORG, message, ())
        again = message.with_changes(body="[]")
        assert await webhooks.create_message(ORG, again, (outbox_row(),)) is InsertOutcome.ID_EXISTS
        assert await webhooks.read_message(ORG, message.id) == message
        assert await self._landed(outbox) == []

    async def test_one_create_wins_with_its_rows_when_several_have_one_message_id(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        message = message_with()
        rows = [outbox_row() for _ in range(NUM_RACERS)]
        outcomes = await asyncio.gather(*(webhooks.create_message(ORG, message, (row,)) for row in rows))
        assert outcomes.count(InsertOutcome.INSERTED) == 1
        assert await self._landed(outbox) == [(ORG, rows[outcomes.index(InsertOutcome.INSERTED)].id)]

    async def test_messages_come_newest_first_without_bodies_when_they_are_listed(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        messages = [message_with(body=f"[{number}]") for number in range(5)]
        for message in messages:
            await webhooks.create_message(ORG, message, ())
        first = await webhooks.read_messages(ORG, 3)
        second = await webhooks.read_messages(ORG, 3, after=first[-1].id)
        newest_first = sorted(messages, key=lambda each: each.id, reverse=True)
        assert first + second == tuple(
            WebhookMessageHead.model_validate(each.model_dump(exclude={"body"})) for each in newest_first
        )

    async def test_endpoint_is_not_found_when_it_is_another_tenants(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint = await self._added(webhooks)
        assert await webhooks.read_endpoint(OTHER_ORG, endpoint.id) is None
        assert await webhooks.read_endpoints(OTHER_ORG, 10) == ()
        assert await webhooks.read_endpoints_wanting(OTHER_ORG, "order.created", 10) == ()
        assert await webhooks.count_endpoints(OTHER_ORG) == 0

    async def test_endpoint_is_unchanged_when_another_tenant_writes_it(
        self, webhooks: WebhooksStorageInterface, outbox: OutboxStorageInterface
    ) -> None:
        endpoint = await self._added(webhooks)
        changed = endpoint.with_changes(version=2, name="theirs")
        assert not await webhooks.write_endpoint(OTHER_ORG, changed, 1, (outbox_row(),))
        assert await webhooks.count_failure(OTHER_ORG, endpoint.id, 1) is None
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint
        assert await self._landed(outbox) == []

    async def _published(self, webhooks: WebhooksStorageInterface, num: int) -> list[UUID]:
        messages = [message_with() for _ in range(num)]
        for message in messages:
            await webhooks.create_message(ORG, message, ())
        return [message.id for message in messages]

    async def test_the_oldest_messages_are_purged_when_a_limit_is_given(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        ids = await self._published(webhooks, 3)
        assert await webhooks.purge_messages(ORG, timedelta(0), 2) == 2
        assert [each.id for each in await webhooks.read_messages(ORG, 10)] == ids[2:]
        assert await webhooks.read_message(ORG, ids[0]) is None
        assert await webhooks.purge_messages(ORG, timedelta(0), 2) == 1

    async def test_no_message_is_purged_when_it_came_in_later_than_that(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        # Whatever the publisher's clock says: the storage's own decides.
        message = message_with(created_at=message_with().created_at - timedelta(days=365))
        await webhooks.create_message(ORG, message, ())
        assert await webhooks.purge_messages(ORG, timedelta(hours=1), 10) == 0
        assert await webhooks.read_message(ORG, message.id) == message

    async def test_each_message_is_purged_once_when_several_purge(self, webhooks: WebhooksStorageInterface) -> None:
        await self._published(webhooks, 20)
        purges = (webhooks.purge_messages(ORG, timedelta(0), 10) for _ in range(NUM_RACERS))
        num_purged = sum(await asyncio.gather(*purges))
        assert num_purged + await webhooks.purge_messages(ORG, timedelta(0), 100) == 20

    async def test_endpoints_go_up_to_the_limit_when_they_are_purged(self, webhooks: WebhooksStorageInterface) -> None:
        for enabled in (True, False, True):
            await self._added(webhooks, enabled=enabled)
        assert await webhooks.purge_endpoints(ORG, 2) == 2
        assert await webhooks.count_endpoints(ORG) == 1
        assert await webhooks.purge_endpoints(ORG, 2) == 1

    async def test_nothing_is_purged_when_it_is_another_tenants(self, webhooks: WebhooksStorageInterface) -> None:
        endpoint, (message_id,) = await self._added(webhooks), await self._published(webhooks, 1)
        assert await webhooks.purge_messages(OTHER_ORG, timedelta(0), 10) == 0
        assert await webhooks.purge_endpoints(OTHER_ORG, 10) == 0
        assert await webhooks.read_message(ORG, message_id) is not None
        assert await webhooks.read_endpoint(ORG, endpoint.id) == endpoint

    async def test_message_is_not_found_when_it_is_another_tenants(self, webhooks: WebhooksStorageInterface) -> None:
        message = message_with()
        await webhooks.create_message(ORG, message, ())
        assert await webhooks.read_message(OTHER_ORG, message.id) is None
        assert await webhooks.read_messages(OTHER_ORG, 10) == ()

    async def test_message_is_untouched_when_another_tenant_creates_one_of_its_id(
        self, webhooks: WebhooksStorageInterface
    ) -> None:
        message = message_with()
        await webhooks.create_message(ORG, message, ())
        theirs = message.with_changes(body="[]")
        assert await webhooks.create_message(OTHER_ORG, theirs, ()) is InsertOutcome.INSERTED
        assert await webhooks.read_message(ORG, message.id) == message
