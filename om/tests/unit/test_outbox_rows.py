"""Outbox rows say what is asked for, and refuse what would only fail later."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.om.base import EMPTY_UUID, new_id, utcnow
from headrace.om.exceptions import ValidationFailed
from headrace.om.outbox.rows import entity_row, work_row
from headrace.om.outbox.rules import MAX_PAYLOAD_BYTES as MAX_ROW_BYTES
from headrace.om.work.impl.enqueue import item_from_row
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.payloads.deliver_webhook import DeliverWebhookPayload
from headrace.om.work.types.payloads.noop import NoopPayload
from headrace.om.work.types.work_item import MAX_PAYLOAD_BYTES

SCOPE = SimpleNamespace(org_id=new_id(), user_id=new_id(), request_id=new_id(), traceparent="00-0123-4567-01")


def test_the_row_says_who_asked_on_which_request() -> None:
    row = entity_row(SCOPE, "org", SCOPE.org_id, "created")
    assert (row.actor_id, row.request_id, row.traceparent) == (SCOPE.user_id, SCOPE.request_id, SCOPE.traceparent)


def test_an_entity_row_says_what_changed() -> None:
    row = entity_row(SCOPE, "org", EMPTY_UUID, "created")
    assert row.kind == "entity.changed"
    assert row.payload == {"entity": "org", "entity_id": str(EMPTY_UUID), "change": "created"}


def test_an_entity_row_is_refused_when_a_word_does_not_fit() -> None:
    with pytest.raises(ValidationFailed, match=r"^change: "):
        entity_row(SCOPE, "org", EMPTY_UUID, "")


def test_the_work_item_is_what_the_row_asked_for() -> None:
    at, target = datetime(2030, 1, 1, tzinfo=UTC), new_id()
    payload = DeliverWebhookPayload(message_id=new_id(), endpoint_id=new_id())
    row = work_row(
        SCOPE,
        WorkKind.DELIVER_WEBHOOK,
        payload,
        origin="tests",
        lane="webhooks",
        target_id=target,
        priority=-7,
        available_at=at,
        max_attempts=9,
    )
    item = item_from_row(row)
    assert (item.kind, item.origin, item.lane, item.target_id) == (row.kind[5:], "tests", "webhooks", target)
    assert (item.priority, item.available_at, item.max_attempts) == (-7, at, 9)
    assert DeliverWebhookPayload.model_validate(item.payload.thawed()) == payload


def test_the_work_item_is_unique_for_what_the_row_says() -> None:
    one, other = (
        item_from_row(work_row(SCOPE, WorkKind.NOOP, {"note": "a"}, origin="tests", unique_for=["note"])) for _ in "ab"
    )
    assert one.unique_for == ("note",)
    assert one.unique_hash == other.unique_hash is not None
    assert item_from_row(work_row(SCOPE, WorkKind.NOOP, {}, origin="tests")).unique_for is None


def test_a_row_that_would_be_unique_for_what_its_payload_lacks_is_refused() -> None:
    with pytest.raises(ValidationFailed, match=r"^unique_for: .* got 'odd'"):
        work_row(SCOPE, WorkKind.NOOP, {}, origin="tests", unique_for=["odd"])


def test_the_work_item_carries_the_rows_id_actor_request_and_trace() -> None:
    row = work_row(SCOPE, WorkKind.NOOP, {}, origin="tests")
    item = item_from_row(row)
    assert (item.idempotency_key, item.created_by) == (str(row.id), SCOPE.user_id)
    assert (item.request_id, item.traceparent) == (SCOPE.request_id, SCOPE.traceparent)


def test_defaults_are_those_of_a_work_item() -> None:
    item = item_from_row(work_row(SCOPE, WorkKind.NOOP, NoopPayload(note="hello"), origin="tests"))
    assert (item.lane, item.priority, item.available_at, item.max_attempts) == ("default", 0, None, 3)
    assert item.payload == {"note": "hello"}


def test_a_delay_counts_from_now() -> None:
    before = utcnow()
    at = item_from_row(work_row(SCOPE, WorkKind.NOOP, {}, origin="t", delay=timedelta(hours=1))).available_at
    assert at is not None
    assert before + timedelta(hours=1) <= at <= utcnow() + timedelta(hours=1)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("origin", {"origin": ""}),
        ("origin", {"origin": "nul \x00"}),
        ("lane", {"lane": "surrogate \ud800"}),
        ("lane", {"lane": "x" * 101}),
        ("priority", {"priority": 40_000}),
        ("max_attempts", {"max_attempts": 0}),
        ("available_at", {"available_at": datetime(2030, 1, 1)}),  # noqa: DTZ001 - the naive instant is the case
        ("available_at", {"available_at": datetime(1969, 12, 31, tzinfo=UTC)}),
        ("available_at", {"available_at": datetime(9999, 1, 1, tzinfo=UTC)}),
        ("delay", {"delay": timedelta.max}),
        ("delay", {"delay": timedelta.min}),
        ("delay", {"delay": timedelta(days=365 * 7500)}),
        ("payload.note", {"payload": {"note": 7}}),
        ("payload.other", {"payload": {"other": 7}}),
        ("payload.note", {"payload": {"note": "\x00"}}),
    ],
)
def test_a_work_row_is_refused_and_the_field_named_when_it_does_not_fit(field: str, changes: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"payload": {}, "origin": "tests"} | changes
    with pytest.raises(ValidationFailed) as raised:
        work_row(SCOPE, WorkKind.NOOP, **fields)
    assert raised.value.field == field


def test_the_largest_payload_of_an_item_fits_into_a_row() -> None:
    assert MAX_ROW_BYTES >= MAX_PAYLOAD_BYTES + 1000
