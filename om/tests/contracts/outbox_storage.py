"""What every storage of outbox rows does."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from headrace.om.base import EMPTY_UUID, FrozenMapping, new_id
from headrace.om.exceptions import ValidationFailed
from headrace.om.outbox.rules import MAX_PAYLOAD_BYTES, RelayBackoff, relay_delay
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.outbox.types.outbox_row import OutboxRow, UnreadableRow
from headrace.om.storage.outcomes import InsertOutcome

type PassTime = Callable[[timedelta], Awaitable[None]]
type Plant = Callable[[UUID], Awaitable[UUID]]

HOLD = timedelta(minutes=5)
BACKOFF = RelayBackoff(base=timedelta(minutes=1), cap=timedelta(minutes=3))
ORG = UUID("0199a000-0000-7000-8000-000000000001")
OTHER = UUID("0199a000-0000-7000-8000-000000000002")
AGO = timedelta(seconds=1)


def outbox_row(**changes: object) -> OutboxRow:
    fields = {"kind": "entity.changed", "payload": {"entity": "org"}, "actor_id": new_id(), "request_id": new_id()}
    return OutboxRow.model_validate(fields | changes)


class OutboxStorageContract:
    """Subclasses give the fixtures `storage`, an empty one, `pass_time`, which moves its clock, and `plant_unreadable`.

    The last lands a row of a tenant that no release can read, and returns its id.
    """

    async def test_a_row_comes_back_as_it_was_when_taken(self, storage: OutboxStorageInterface) -> None:
        row = outbox_row(payload={"n": [1, {"deep": None}], "text": "zürich"}, traceparent="00-1-2-01")
        assert await storage.create_row(ORG, row) is InsertOutcome.INSERTED
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_the_first_row_stays_when_its_id_is_created_again(self, storage: OutboxStorageInterface) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        again = row.with_changes(kind="work.NOOP")
        assert await storage.create_row(ORG, again) is InsertOutcome.ID_EXISTS
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_a_done_row_is_not_due_again_when_its_id_is_created_again(
        self, storage: OutboxStorageInterface
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        await storage.mark_done(ORG, [row.id])
        await storage.create_row(ORG, row)
        assert await storage.take_pending(10, HOLD) == ()

    async def test_an_id_is_free_when_another_tenant_has_it(self, storage: OutboxStorageInterface) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        assert await storage.create_row(OTHER, row) is InsertOutcome.INSERTED

    async def test_the_platforms_own_row_is_taken_with_its_tenant(self, storage: OutboxStorageInterface) -> None:
        row = outbox_row()
        await storage.create_row(EMPTY_UUID, row)
        assert await storage.take_pending(10, HOLD) == ((EMPTY_UUID, row),)

    @pytest.mark.parametrize("payload", [{"a": "\x00"}, {"a": "\ud800"}, {"a": object()}, {"a": float("nan")}])
    async def test_nothing_is_stored_when_the_payload_cannot_be(
        self, storage: OutboxStorageInterface, payload: dict[str, object]
    ) -> None:
        with pytest.raises(ValidationFailed, match="payload"):
            await storage.create_row(ORG, outbox_row(payload=FrozenMapping(payload)))
        assert (await storage.read_gauges()).num_pending == 0

    async def test_nothing_is_stored_when_the_payload_is_too_large(self, storage: OutboxStorageInterface) -> None:
        with pytest.raises(ValidationFailed, match="payload: expected at most"):
            await storage.create_row(ORG, outbox_row(payload={"a": "x" * MAX_PAYLOAD_BYTES}))

    @pytest.mark.parametrize("year", [1, 1969, 9001, 9999])
    async def test_nothing_is_stored_when_the_instant_cannot_be(
        self, storage: OutboxStorageInterface, year: int
    ) -> None:
        with pytest.raises(ValidationFailed, match="created_at"):
            await storage.create_row(ORG, outbox_row(created_at=datetime(year, 1, 1, tzinfo=UTC)))
        assert (await storage.read_gauges()).num_pending == 0

    async def test_readable_rows_are_handed_out_when_one_beside_them_cannot_be_read(
        self, storage: OutboxStorageInterface, plant_unreadable: Plant
    ) -> None:
        before, after = outbox_row(), outbox_row()
        await storage.create_row(ORG, before)
        planted = await plant_unreadable(ORG)
        await storage.create_row(OTHER, after)
        taken = await storage.take_pending(10, HOLD)
        assert [(org_id, row) for org_id, row in taken if row.id != planted] == [(ORG, before), (OTHER, after)]
        assert len(taken) == 3

    async def test_an_unreadable_row_is_handed_out_as_such_and_waits_when_marked_failed(
        self, storage: OutboxStorageInterface, plant_unreadable: Plant, pass_time: PassTime
    ) -> None:
        planted = await plant_unreadable(ORG)
        ((org_id, row),) = await storage.take_pending(10, HOLD)
        assert isinstance(row, UnreadableRow)
        assert (org_id, row.id, row.kind) == (ORG, planted, "entity.changed")
        assert row.error
        assert await storage.mark_failed(ORG, planted, row.error, BACKOFF)
        assert await storage.take_rows(ORG, [planted], HOLD) == ()
        await pass_time(BACKOFF.base)
        assert await storage.take_rows(ORG, [planted], HOLD) == (row,)

    async def test_one_tenants_row_is_handed_out_when_another_has_a_burst(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        for _ in range(500):
            await storage.create_row(ORG, outbox_row())
        await pass_time(AGO)
        single = outbox_row()
        await storage.create_row(OTHER, single)
        taken = await storage.take_pending(100, HOLD)
        assert (OTHER, single) in taken
        assert len(taken) == 100

    async def test_a_pass_is_shared_evenly_when_many_tenants_wait(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        orgs = [new_id() for _ in range(5)]
        for org_id in orgs:
            for _ in range(6):
                await storage.create_row(org_id, outbox_row())
            await pass_time(AGO)
        taken = [org_id for org_id, _ in await storage.take_pending(10, HOLD)]
        assert {org_id: taken.count(org_id) for org_id in orgs} == dict.fromkeys(orgs, 2)

    async def test_a_burst_is_drained_in_full_passes_when_nobody_else_waits(
        self, storage: OutboxStorageInterface
    ) -> None:
        for _ in range(25):
            await storage.create_row(ORG, outbox_row())
        assert [len(await storage.take_pending(10, HOLD)) for _ in range(4)] == [10, 10, 5, 0]

    async def test_rows_that_are_due_longest_come_first_whatever_their_tenant(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        rows = [outbox_row() for _ in range(3)]
        for org_id, row in zip((ORG, OTHER, ORG), rows, strict=True):
            await storage.create_row(org_id, row)
            await pass_time(AGO)
        first = await storage.take_pending(2, HOLD)
        second = await storage.take_pending(2, HOLD)
        assert [row for _, row in first + second] == rows
        assert [org_id for org_id, _ in first + second] == [ORG, OTHER, ORG]

    async def test_nobody_else_is_handed_a_row_while_it_is_held(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        await storage.take_pending(10, HOLD)
        await pass_time(HOLD - timedelta(seconds=30))
        assert await storage.take_pending(10, HOLD) == ()
        assert await storage.take_rows(ORG, [row.id], HOLD) == ()

    async def test_a_row_is_due_again_when_its_hold_has_passed(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        await storage.take_rows(ORG, [row.id], HOLD)
        await pass_time(HOLD)
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_every_row_is_handed_out_once_when_many_relays_take_at_once(
        self, storage: OutboxStorageInterface
    ) -> None:
        rows = [outbox_row() for _ in range(40)]
        for row in rows:
            await storage.create_row(ORG, row)
        passes = await asyncio.gather(*(storage.take_pending(10, HOLD) for _ in range(8)))
        taken = [row.id for each in passes for _, row in each]
        left = [row.id for _, row in await storage.take_pending(100, HOLD)]
        assert sorted(taken + left) == sorted(row.id for row in rows)

    async def test_only_the_named_rows_are_taken(self, storage: OutboxStorageInterface) -> None:
        named, unnamed = outbox_row(), outbox_row()
        await storage.create_row(ORG, named)
        await storage.create_row(ORG, unnamed)
        assert await storage.take_rows(ORG, [named.id, named.id, new_id()], HOLD) == (named,)
        assert await storage.take_rows(ORG, [], HOLD) == ()
        assert await storage.take_pending(10, HOLD) == ((ORG, unnamed),)

    async def test_nothing_is_taken_when_the_row_is_another_tenants(self, storage: OutboxStorageInterface) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        assert await storage.take_rows(OTHER, [row.id], HOLD) == ()
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_a_done_row_is_never_handed_out(self, storage: OutboxStorageInterface, pass_time: PassTime) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        assert await storage.mark_done(ORG, [row.id]) == 1
        await pass_time(HOLD)
        assert await storage.take_pending(10, HOLD) == ()
        assert await storage.take_rows(ORG, [row.id], HOLD) == ()

    async def test_a_second_mark_counts_nothing(self, storage: OutboxStorageInterface) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        await storage.mark_done(ORG, [row.id])
        assert await storage.mark_done(ORG, [row.id, new_id()]) == 0
        assert await storage.mark_done(ORG, []) == 0

    async def test_nothing_is_marked_done_when_the_row_is_another_tenants(
        self, storage: OutboxStorageInterface
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        assert await storage.mark_done(OTHER, [row.id]) == 0
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_nothing_is_marked_failed_when_the_row_is_another_tenants(
        self, storage: OutboxStorageInterface
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        assert not await storage.mark_failed(OTHER, row.id, "no", BACKOFF)
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_a_done_row_stays_done_when_another_relay_failed_on_it(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        await storage.mark_done(ORG, [row.id])
        assert not await storage.mark_failed(ORG, row.id, "no", BACKOFF)
        await pass_time(HOLD)
        assert await storage.take_pending(10, HOLD) == ()

    @pytest.mark.parametrize("num_failures", [1, 2, 3, 40])
    async def test_a_failed_row_waits_as_the_rule_says(
        self, storage: OutboxStorageInterface, pass_time: PassTime, num_failures: int
    ) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        for _ in range(num_failures):
            assert await storage.mark_failed(ORG, row.id, "no", BACKOFF)
        await pass_time(relay_delay(BACKOFF, num_failures) - timedelta(seconds=30))
        assert await storage.take_pending(10, HOLD) == ()
        await pass_time(timedelta(seconds=30))
        assert await storage.take_pending(10, HOLD) == ((ORG, row),)

    async def test_other_rows_are_handed_out_while_a_failed_one_waits(self, storage: OutboxStorageInterface) -> None:
        poison, good = outbox_row(), outbox_row()
        await storage.create_row(ORG, poison)
        await storage.mark_failed(ORG, poison.id, "no", BACKOFF)
        await storage.create_row(ORG, good)
        assert await storage.take_pending(1, HOLD) == ((ORG, good),)

    @pytest.mark.parametrize("error", ["nul \x00", "surrogate \ud800", "long " * 5000, ""])
    async def test_the_failure_is_recorded_whatever_its_text(self, storage: OutboxStorageInterface, error: str) -> None:
        row = outbox_row()
        await storage.create_row(ORG, row)
        assert await storage.mark_failed(ORG, row.id, error, BACKOFF)

    async def test_only_rows_done_long_enough_ago_are_purged_oldest_first(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        rows = [outbox_row() for _ in range(4)]
        for row in rows:
            await storage.create_row(ORG, row)
        for row in rows[:3]:
            await storage.mark_done(ORG, [row.id])
            await pass_time(timedelta(hours=1))
        assert await storage.purge_done(timedelta(minutes=90), 1) == 1
        assert await storage.create_row(ORG, rows[0]) is InsertOutcome.INSERTED
        assert await storage.purge_done(timedelta(minutes=90), 10) == 1
        assert await storage.create_row(ORG, rows[2]) is InsertOutcome.ID_EXISTS
        assert await storage.create_row(ORG, rows[3]) is InsertOutcome.ID_EXISTS

    async def test_gauges_show_rows_that_are_not_done_and_the_age_of_the_oldest(
        self, storage: OutboxStorageInterface, pass_time: PassTime
    ) -> None:
        old, young, done = outbox_row(), outbox_row(), outbox_row()
        await storage.create_row(ORG, done)
        await storage.mark_done(ORG, [done.id])
        await pass_time(timedelta(hours=1))
        await storage.create_row(ORG, old)
        await pass_time(timedelta(minutes=10))
        await storage.create_row(OTHER, young)
        await storage.mark_failed(ORG, old.id, "no", BACKOFF)
        gauges = await storage.read_gauges()
        assert gauges.num_pending == 2
        assert timedelta(minutes=10) <= gauges.lag < timedelta(minutes=20)

    async def test_gauges_are_zero_when_nothing_is_pending(self, storage: OutboxStorageInterface) -> None:
        gauges = await storage.read_gauges()
        assert (gauges.num_pending, gauges.lag) == (0, timedelta(0))
