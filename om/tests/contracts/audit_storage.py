"""What every storage of audit entries does."""

from uuid import UUID

import pytest

from headrace.om.audit.storage import AuditStorageInterface
from headrace.om.audit.types.audit_entry import AuditEntry, AuditFilter
from headrace.om.base import EMPTY_UUID, new_id
from headrace.om.storage.outcomes import InsertOutcome

ORG = UUID("0199a000-0000-7000-8000-000000000001")
OTHER = UUID("0199a000-0000-7000-8000-000000000002")
ALL = AuditFilter()


def audit_entry(**changes: object) -> AuditEntry:
    fields = {"action": "work.dead_letter", "target_type": "work_item", "target_id": new_id(), "request_id": new_id()}
    return AuditEntry.model_validate(fields | changes)


class AuditStorageContract:
    """Subclasses give the fixture `storage`, an empty one."""

    async def test_an_entry_comes_back_as_it_was_when_read(self, storage: AuditStorageInterface) -> None:
        entry = audit_entry(created_by=new_id(), details={"attempts": 3, "nested": {"ids": ["a", "b"], "none": None}})
        assert await storage.create_entry(ORG, entry) is InsertOutcome.INSERTED
        assert await storage.read_entries(ORG, ALL, 10) == (entry,)

    async def test_the_first_entry_stays_when_its_id_is_created_again(self, storage: AuditStorageInterface) -> None:
        entry = audit_entry()
        await storage.create_entry(ORG, entry)
        again = entry.with_changes(action="work.retry")
        assert await storage.create_entry(ORG, again) is InsertOutcome.ID_EXISTS
        assert await storage.create_entry(ORG, entry) is InsertOutcome.ID_EXISTS
        assert await storage.read_entries(ORG, ALL, 10) == (entry,)

    async def test_another_tenants_entry_is_neither_found_nor_changed(self, storage: AuditStorageInterface) -> None:
        theirs = audit_entry()
        await storage.create_entry(OTHER, theirs)
        query = AuditFilter(target_id=theirs.target_id)
        assert await storage.read_entries(ORG, query, 10) == ()
        ours = theirs.with_changes(action="work.retry")
        assert await storage.create_entry(ORG, ours) is InsertOutcome.INSERTED
        assert await storage.read_entries(ORG, query, 10) == (ours,)
        assert await storage.read_entries(OTHER, query, 10) == (theirs,)

    async def test_entries_of_many_tenants_are_reported_in_order_when_created_at_once(
        self, storage: AuditStorageInterface
    ) -> None:
        known, ours, theirs = audit_entry(), audit_entry(details={"code": "ü"}), audit_entry()
        await storage.create_entry(OTHER, known)
        again = known.with_changes(action="work.retry")
        outcomes = await storage.create_entries([(ORG, ours), (OTHER, again), (OTHER, theirs)])
        assert outcomes == (InsertOutcome.INSERTED, InsertOutcome.ID_EXISTS, InsertOutcome.INSERTED)
        assert await storage.read_entries(ORG, ALL, 10) == (ours,)
        assert set(await storage.read_entries(OTHER, ALL, 10)) == {known, theirs}

    async def test_an_id_is_each_tenants_own_when_entries_are_created_at_once(
        self, storage: AuditStorageInterface
    ) -> None:
        entry = audit_entry()
        await storage.create_entry(OTHER, entry)
        outcomes = await storage.create_entries([(OTHER, entry), (ORG, entry)])
        assert outcomes == (InsertOutcome.ID_EXISTS, InsertOutcome.INSERTED)

    async def test_nothing_is_created_when_there_is_no_entry(self, storage: AuditStorageInterface) -> None:
        assert await storage.create_entries([]) == ()

    async def test_the_platforms_own_entries_are_its_own(self, storage: AuditStorageInterface) -> None:
        entry = audit_entry()
        await storage.create_entry(EMPTY_UUID, entry)
        await storage.create_entry(ORG, audit_entry())
        assert await storage.read_entries(EMPTY_UUID, ALL, 10) == (entry,)

    async def test_the_newest_entries_come_first_in_pages(self, storage: AuditStorageInterface) -> None:
        entries = sorted((audit_entry() for _ in range(3)), key=lambda entry: entry.id, reverse=True)
        for entry in (entries[1], entries[0], entries[2]):
            await storage.create_entry(ORG, entry)
        assert await storage.read_entries(ORG, ALL, 2) == tuple(entries[:2])
        assert await storage.read_entries(ORG, ALL, 2, entries[1].id) == (entries[2],)

    @pytest.mark.parametrize("name", ["action", "target_type", "target_id", "request_id"])
    async def test_only_matching_entries_are_found_when_a_filter_is_set(
        self, storage: AuditStorageInterface, name: str
    ) -> None:
        wanted = audit_entry(action="tenancy.leave", target_type="membership")
        for entry in (audit_entry(), wanted, audit_entry()):
            await storage.create_entry(ORG, entry)
        query = AuditFilter.model_validate({name: getattr(wanted, name)})
        assert await storage.read_entries(ORG, query, 10) == (wanted,)

    async def test_every_set_filter_narrows(self, storage: AuditStorageInterface) -> None:
        entry = audit_entry()
        await storage.create_entry(ORG, entry)
        both = AuditFilter(action=entry.action, target_id=new_id())
        assert await storage.read_entries(ORG, both, 10) == ()
