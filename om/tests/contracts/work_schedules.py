"""Schedules: cases of the work storage's contract."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from headrace.om.base import new_id
from headrace.om.exceptions import Conflict
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.work.scheduling import item_of_tick, overlap_hash
from headrace.om.work.stamping import fresh
from headrace.om.work.storage import WorkStorageInterface
from headrace.om.work.types.kinds import WorkKind
from headrace.om.work.types.queries import WorkFilter
from headrace.om.work.types.schedule import Fired, Firing, Overlap, WorkSchedule
from om.tests.contracts.work_items import WorkStorageCases, claim_one, in_past, payload

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
LATER = datetime(2090, 1, 1, tzinfo=UTC)
NUM_RACERS = 8


def a_schedule(**fields: Any) -> WorkSchedule:  # noqa: ANN401 - any field
    asked = {"name": f"nightly {uuid4()}", "kind": WorkKind.NOOP, "every": timedelta(seconds=1)}
    return WorkSchedule.model_validate(asked | {"next_fire_at": LONG_AGO} | fields)


def a_firing(schedule: WorkSchedule, *ticks: datetime, **fields: Any) -> Firing:  # noqa: ANN401 - any field
    items = tuple(fresh(item_of_tick(schedule, tick), unique_hash=overlap_hash(schedule)) for tick in ticks)
    decided = {"schedule_id": schedule.id, "expected_at": schedule.next_fire_at, "items": items, "next_fire_at": LATER}
    return Firing.model_validate(decided | fields)


class ScheduleCases(WorkStorageCases):
    """Schedules."""

    async def put_schedule(
        self,
        storage: WorkStorageInterface,
        org_id: UUID,
        **fields: Any,  # noqa: ANN401 - any field
    ) -> WorkSchedule:
        schedule = a_schedule(**fields)
        assert await storage.create_schedule(org_id, schedule) is InsertOutcome.INSERTED
        return schedule

    async def read_known(self, storage: WorkStorageInterface, org_id: UUID, schedule: WorkSchedule) -> WorkSchedule:
        read = await storage.read_schedule(org_id, schedule.id)
        assert read is not None
        return read

    async def is_due(self, storage: WorkStorageInterface, schedule: WorkSchedule) -> bool:
        return schedule.id in {each.schedule.id for each in await storage.read_due_schedules(1000)}

    @pytest.mark.parametrize(
        "fields",
        [
            {"every": timedelta(hours=36, seconds=7), "anchor_at": LONG_AGO},
            {"every": None, "cron": "30 6 * * MON", "time_zone": "Europe/Vienna"},
            {"payload": payload(note="Grüße"), "lane": "reports", "priority": -3, "max_attempts": 7},
            {"missed": "all", "missed_after": timedelta(hours=2), "overlap": "skip", "created_by": new_id()},
            {"is_enabled": False, "next_fire_at": None},
        ],
        ids=["interval", "cron", "what is enqueued", "what becomes of ticks", "disabled"],
    )
    async def test_a_schedule_reads_back_as_written(
        self, storage: WorkStorageInterface, org_id: UUID, fields: dict[str, Any]
    ) -> None:
        schedule = await self.put_schedule(storage, org_id, **fields)
        assert await self.read_known(storage, org_id, schedule) == schedule

    async def test_a_schedule_whose_id_or_name_is_there_is_reported_and_touches_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        there = await self.put_schedule(storage, org_id, name="nightly")
        same_id = there.model_copy(update={"name": "other", "priority": 9})
        assert await storage.create_schedule(org_id, same_id) is InsertOutcome.ID_EXISTS
        assert await storage.create_schedule(org_id, a_schedule(name="nightly")) is InsertOutcome.KEY_EXISTS
        assert await storage.create_schedule(other_org, a_schedule(name="nightly")) is InsertOutcome.INSERTED
        assert await storage.read_schedules(org_id, 10) == (there,)

    async def test_schedules_are_read_page_by_page_newest_first(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        ids = [(await self.put_schedule(storage, org_id)).id for _ in range(3)]
        await self.put_schedule(storage, other_org)
        first = [each.id for each in await storage.read_schedules(org_id, 2)]
        assert first == sorted(ids, reverse=True)[:2]
        assert [each.id for each in await storage.read_schedules(org_id, 2, first[-1])] == sorted(ids)[:1]

    async def test_a_change_keeps_the_awaited_tick_while_the_timing_stays(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        there = await self.put_schedule(storage, org_id, created_by=new_id())
        await storage.fire_schedule(org_id, a_firing(there, last_fired_at=LONG_AGO, last_error="refused"))
        changed = there.model_copy(update={"priority": 5, "next_fire_at": in_past(days=1), "created_by": new_id()})
        written = await storage.write_schedule(org_id, changed)
        kept = {"next_fire_at": LATER, "last_fired_at": LONG_AGO, "created_by": there.created_by}
        assert written == changed.model_copy(update=kept)
        assert await self.read_known(storage, org_id, there) == written

    @pytest.mark.parametrize(
        "change",
        [{"every": timedelta(seconds=2)}, {"anchor_at": LONG_AGO}, {"is_enabled": False}],
        ids=["interval", "anchor", "disabled"],
    )
    async def test_a_change_of_the_timing_waits_for_another_tick(
        self, storage: WorkStorageInterface, org_id: UUID, change: dict[str, Any]
    ) -> None:
        there = await self.put_schedule(storage, org_id)
        next_fire_at = None if "is_enabled" in change else LATER
        written = await storage.write_schedule(org_id, there.model_copy(update=change | {"next_fire_at": next_fire_at}))
        assert written is not None
        assert written.next_fire_at == next_fire_at
        assert not await self.is_due(storage, there)

    async def test_a_change_of_none_or_to_another_ones_name_writes_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        there = await self.put_schedule(storage, org_id, name="first")
        second = await self.put_schedule(storage, org_id, name="second")
        assert await storage.write_schedule(other_org, there) is None
        assert await storage.write_schedule(org_id, a_schedule()) is None
        with pytest.raises(Conflict):
            await storage.write_schedule(org_id, second.model_copy(update={"name": "first"}))
        assert await self.read_known(storage, org_id, second) == second

    async def test_a_removed_schedule_leaves_its_items(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        schedule = await self.put_schedule(storage, org_id)
        await storage.fire_schedule(org_id, a_firing(schedule, LONG_AGO))
        assert await storage.delete_schedule(org_id, schedule.id)
        assert not await storage.delete_schedule(org_id, schedule.id)
        assert await storage.read_schedule(org_id, schedule.id) is None
        assert len(await storage.read_items(org_id, WorkFilter(), 10)) == 1

    async def test_a_tenants_schedules_are_removed_batch_by_batch_and_make_it_known(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        for _ in range(3):
            await self.put_schedule(storage, org_id)
        kept = await self.put_schedule(storage, other_org)
        assert {org_id, other_org} <= set(await storage.read_orgs(1000))
        assert [await storage.delete_schedules(org_id, 2) for _ in range(3)] == [2, 1, 0]
        assert await storage.read_schedules(other_org, 10) == (kept,)

    async def test_a_firing_inserts_the_items_and_moves_the_schedule_on(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        schedule = await self.put_schedule(storage, org_id)
        firing = a_firing(schedule, LONG_AGO, LONG_AGO + timedelta(seconds=1), last_fired_at=LONG_AGO)
        fired = await storage.fire_schedule(org_id, firing)
        assert fired == Fired(is_current=True, item_ids=frozenset(item.id for item in firing.items))
        moved = await self.read_known(storage, org_id, schedule)
        assert moved == schedule.model_copy(update={"next_fire_at": LATER, "last_fired_at": LONG_AGO})
        claimed = await claim_one(storage)
        assert (claimed.org_id, claimed.item.idempotency_key) == (org_id, firing.items[0].idempotency_key)

    async def test_an_error_is_written_and_the_last_tick_stays(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        schedule = await self.put_schedule(storage, org_id, last_fired_at=None)
        await storage.fire_schedule(
            org_id, a_firing(schedule, next_fire_at=LONG_AGO + timedelta(days=1), last_fired_at=LONG_AGO)
        )
        seen = await self.read_known(storage, org_id, schedule)
        await storage.fire_schedule(org_id, a_firing(seen, next_fire_at=None, last_error="payload: refused"))
        ended = await self.read_known(storage, org_id, schedule)
        assert (ended.next_fire_at, ended.last_fired_at, ended.last_error) == (None, LONG_AGO, "payload: refused")

    async def test_a_firing_that_came_too_late_changes_nothing(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        schedule = await self.put_schedule(storage, org_id)
        firing = a_firing(schedule, LONG_AGO)
        assert not (await storage.fire_schedule(other_org, firing)).is_current
        assert (await storage.fire_schedule(org_id, firing)).is_current
        again = a_firing(schedule, LONG_AGO + timedelta(seconds=1), next_fire_at=LONG_AGO)
        assert await storage.fire_schedule(org_id, again) == Fired(is_current=False)
        assert (await self.read_known(storage, org_id, schedule)).next_fire_at == LATER
        assert len(await storage.read_items(org_id, WorkFilter(), 10)) == 1

    async def test_nothing_fires_before_its_tick_whoever_says_so(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        schedule = await self.put_schedule(storage, org_id, next_fire_at=LATER)
        assert not await self.is_due(storage, schedule)
        assert await storage.fire_schedule(org_id, a_firing(schedule, LATER)) == Fired(is_current=False)
        assert await storage.read_items(org_id, WorkFilter(), 10) == ()

    async def test_of_many_that_fire_the_same_tick_one_does(self, storage: WorkStorageInterface, org_id: UUID) -> None:
        schedule = await self.put_schedule(storage, org_id)
        racers = (storage.fire_schedule(org_id, a_firing(schedule, LONG_AGO)) for _ in range(NUM_RACERS))
        fired = await asyncio.gather(*racers)
        assert [each.is_current for each in fired].count(True) == 1
        assert sum(len(each.item_ids) for each in fired) == 1
        assert len(await storage.read_items(org_id, WorkFilter(), 10)) == 1

    async def test_an_item_that_is_there_already_fails_no_firing(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        schedule = await self.put_schedule(storage, org_id)
        there = fresh(item_of_tick(schedule, LONG_AGO))
        await storage.create_item(org_id, there)
        firing = a_firing(schedule, LONG_AGO, LONG_AGO + timedelta(seconds=1))
        fired = await storage.fire_schedule(org_id, firing)
        assert fired == Fired(is_current=True, item_ids=frozenset({firing.items[1].id}))

    async def test_ticks_are_left_out_while_an_item_has_not_settled_where_they_must_not_overlap(
        self, storage: WorkStorageInterface, org_id: UUID
    ) -> None:
        schedule = await self.put_schedule(storage, org_id, overlap=Overlap.SKIP)
        ticks = [LONG_AGO + timedelta(seconds=place) for place in range(3)]
        first = await storage.fire_schedule(org_id, a_firing(schedule, *ticks[:2], next_fire_at=ticks[2]))
        assert len(first.item_ids) == 1
        waiting = await self.read_known(storage, org_id, schedule)
        second = await storage.fire_schedule(org_id, a_firing(waiting, ticks[2]))
        assert second == Fired(is_current=True)

    async def test_due_schedules_are_found_across_tenants_longest_waiting_first(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        second = await self.put_schedule(storage, org_id, next_fire_at=LONG_AGO + timedelta(microseconds=1))
        first = await self.put_schedule(storage, other_org, next_fire_at=LONG_AGO)
        await self.put_schedule(storage, org_id, is_enabled=False, next_fire_at=None)
        due = await storage.read_due_schedules(10)
        assert [(each.org_id, each.schedule) for each in due] == [(other_org, first), (org_id, second)]
        assert [each.schedule for each in await storage.read_due_schedules(1)] == [first]
        assert abs(due[0].now - await storage.read_clock()) < timedelta(minutes=1)

    async def test_the_next_tick_is_told_across_tenants(
        self, storage: WorkStorageInterface, org_id: UUID, other_org: UUID
    ) -> None:
        assert await storage.read_next_tick() is None
        await self.put_schedule(storage, org_id, next_fire_at=LATER)
        left = await storage.read_next_tick()
        assert left is not None
        assert left > timedelta(days=365)
        await self.put_schedule(storage, other_org)
        assert await storage.read_next_tick() == timedelta(0)
