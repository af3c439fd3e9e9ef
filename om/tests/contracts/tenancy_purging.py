"""Removing orgs that were put away: cases of the contract of tenancy's storage."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.context import Role
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.types.membership import Membership
from om.tests.contracts.tenancy_storage import ACTOR, HOUR, TenancyStorageCases, Tenant, api_key, outbox_row

AT_ONCE = timedelta(0)


class TenancyPurgingContract(TenancyStorageCases):
    @pytest.fixture
    async def gone(self, storage: TenancyStorageInterface) -> Tenant:
        tenant = await Tenant().stored(storage)
        assert await storage.delete_org(tenant.id, ACTOR, [])
        return tenant

    async def _is_there(self, storage: TenancyStorageInterface, org_id: UUID) -> bool:
        return await storage.read_org(org_id) is not None

    async def test_orgs_are_found_in_the_order_of_their_deletion(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant, gone: Tenant
    ) -> None:
        await storage.delete_org(other.id, ACTOR, [])
        assert await storage.read_deleted_orgs(AT_ONCE, 10) == (gone.id, other.id)
        assert await storage.read_deleted_orgs(AT_ONCE, 1) == (gone.id,)
        assert await storage.read_deleted_orgs(HOUR, 10) == ()
        assert await self._is_there(storage, one.id)

    async def test_a_purged_org_is_gone_with_all_that_it_was_made_of(
        self, storage: TenancyStorageInterface, gone: Tenant
    ) -> None:
        key = api_key()
        await storage.create_api_key(gone.id, key, [])
        assert await storage.purge_org(gone.id, AT_ONCE)
        assert not await self._is_there(storage, gone.id)
        assert await storage.read_memberships(gone.id, 10) == ()
        assert await storage.read_api_keys(gone.id, 10) == ()
        assert await storage.read_deleted_orgs(AT_ONCE, 10) == ()
        assert not await storage.purge_org(gone.id, AT_ONCE)

    async def test_everything_of_a_purged_org_may_be_made_again(
        self, storage: TenancyStorageInterface, gone: Tenant
    ) -> None:
        key = api_key()
        await storage.create_api_key(gone.id, key, [])
        await storage.purge_org(gone.id, AT_ONCE)
        again = await Tenant(org=gone.org, owner=gone.owner).stored(storage)
        assert await storage.read_user(again.id, gone.owner.id) == gone.owner
        assert await storage.create_api_key(again.id, key, []) is InsertOutcome.INSERTED

    async def test_a_user_who_is_a_member_elsewhere_stays(
        self, storage: TenancyStorageInterface, gone: Tenant, other: Tenant
    ) -> None:
        await storage.create_membership(other.id, Membership(user_id=gone.owner.id, role=Role.VIEWER), [])
        assert await storage.purge_org(gone.id, AT_ONCE)
        assert await storage.read_user(other.id, gone.owner.id) == gone.owner

    async def test_an_org_that_is_live_or_not_there_is_left_alone(
        self, storage: TenancyStorageInterface, one: Tenant
    ) -> None:
        assert not await storage.purge_org(one.id, AT_ONCE)
        assert not await storage.purge_org(new_id(), AT_ONCE)
        assert await storage.read_org(one.id) == one.org
        assert len(await storage.read_memberships(one.id, 10)) == 1

    async def test_an_org_that_was_deleted_later_than_that_is_left_alone(
        self, storage: TenancyStorageInterface, gone: Tenant
    ) -> None:
        assert not await storage.purge_org(gone.id, HOUR)
        assert await self._is_there(storage, gone.id)
        assert len(await storage.read_memberships(gone.id, 10)) == 1

    async def test_an_org_stays_as_long_as_an_outbox_row_of_it_is_left(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, gone: Tenant, other: Tenant
    ) -> None:
        row = outbox_row()
        await outbox.create_row(gone.id, row)
        await outbox.create_row(other.id, outbox_row())
        assert not await storage.purge_org(gone.id, AT_ONCE)
        assert len(await storage.read_memberships(gone.id, 10)) == 1
        await outbox.mark_done(gone.id, [row.id])
        await outbox.purge_done(AT_ONCE, 10)
        assert await storage.purge_org(gone.id, AT_ONCE)

    async def test_nothing_of_another_tenant_is_touched(
        self, storage: TenancyStorageInterface, gone: Tenant, other: Tenant
    ) -> None:
        await storage.create_api_key(other.id, api_key(), [])
        before = (await storage.read_memberships(other.id, 10), await storage.read_api_keys(other.id, 10))
        assert await storage.purge_org(gone.id, AT_ONCE)
        assert await storage.read_org(other.id) == other.org
        assert await storage.read_user(other.id, other.owner.id) == other.owner
        assert (await storage.read_memberships(other.id, 10), await storage.read_api_keys(other.id, 10)) == before

    async def test_an_org_is_purged_once_when_several_race(
        self, storage: TenancyStorageInterface, gone: Tenant
    ) -> None:
        purged = await asyncio.gather(*(storage.purge_org(gone.id, AT_ONCE) for _ in range(4)))
        assert purged.count(True) == 1
