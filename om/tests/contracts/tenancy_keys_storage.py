"""What every storage of tenancy does with API keys, and what it tells the transitions."""

import pytest

from headrace.om.base import EMPTY_UUID, new_id, utcnow
from headrace.om.context import Role
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.exceptions import OrgNotFound
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.types.membership import Membership
from om.tests.contracts.tenancy_storage import (
    ACTOR,
    HOUR,
    TenancyStorageCases,
    Tenant,
    api_key,
    landed,
    outbox_row,
)


class TenancyKeysStorageContract(TenancyStorageCases):
    """API keys, and the reads of `PrincipalsStorageInterface`."""

    async def test_only_the_leavers_live_keys_of_that_org_are_revoked(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        await storage.create_membership(other.id, Membership(user_id=one.owner.id, role=Role.MEMBER), [])
        ended, live = api_key(user_id=one.owner.id, revoked_at=utcnow()), api_key(user_id=one.owner.id)
        elsewhere, of_org = api_key(user_id=one.owner.id), api_key()
        for tenant, key in ((one, ended), (one, live), (other, elsewhere), (one, of_org)):
            await storage.create_api_key(tenant.id, key, [])
        await storage.delete_membership(one.id, one.owner.id, ACTOR, [])
        keys = {key.id: key for key in await storage.read_api_keys(one.id, 10)}
        assert keys[live.id].revoked_at is not None
        assert (keys[ended.id], keys[of_org.id]) == (ended, of_org)
        assert await storage.read_api_keys(other.id, 10) == (elsewhere,)

    async def test_a_key_comes_back_as_it_was_when_read(self, storage: TenancyStorageInterface, one: Tenant) -> None:
        key = api_key(user_id=one.owner.id, expires_at=utcnow() + HOUR, created_by=ACTOR)
        assert await storage.create_api_key(one.id, key, []) is InsertOutcome.INSERTED
        (stored,) = await storage.read_api_keys(one.id, 10)
        assert (stored, stored.secret_hash) == (key, key.secret_hash)

    async def test_nothing_is_written_when_the_keys_id_is_another_tenants(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        key = api_key()
        await storage.create_api_key(other.id, key, [])
        forged = key.with_changes(secret_hash=b"f" * 32)
        assert await storage.create_api_key(one.id, forged, [outbox_row()]) is InsertOutcome.ID_EXISTS
        assert await storage.read_api_keys(one.id, 10) == ()
        assert await storage.read_api_keys(other.id, 10) == (key,)
        assert await landed(outbox) == {}

    async def test_no_key_is_made_when_the_org_is_not_there(self, storage: TenancyStorageInterface) -> None:
        with pytest.raises(OrgNotFound):
            await storage.create_api_key(new_id(), api_key(), [])

    async def test_keys_come_in_pages_when_there_are_many(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        keys = sorted((api_key() for _ in range(3)), key=lambda key: key.id)
        for key in reversed(keys):
            await storage.create_api_key(one.id, key, [])
        await storage.create_api_key(other.id, api_key(), [])
        assert await storage.read_api_keys(one.id, 2) == tuple(keys[:2])
        assert await storage.read_api_keys(one.id, 2, keys[1].id) == (keys[2],)

    async def test_the_first_revocation_stays_when_a_key_is_revoked_again(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        key = api_key()
        await storage.create_api_key(one.id, key, [])
        revoked = await storage.revoke_api_key(one.id, key.id, ACTOR, [])
        assert revoked is not None
        assert revoked.revoked_at is not None
        assert revoked == key.with_changes(
            revoked_at=revoked.revoked_at, updated_at=revoked.updated_at, updated_by=ACTOR
        )
        assert await storage.revoke_api_key(one.id, key.id, new_id(), [outbox_row()]) == revoked
        assert await landed(outbox) == {}

    async def test_no_key_is_revoked_when_it_is_another_tenants(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        key = api_key()
        await storage.create_api_key(other.id, key, [])
        assert await storage.revoke_api_key(one.id, key.id, ACTOR, [outbox_row()]) is None
        assert await storage.read_api_keys(other.id, 10) == (key,)
        assert await landed(outbox) == {}

    async def test_a_sign_in_names_the_tenant_and_the_members_role(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        await storage.create_membership(other.id, Membership(user_id=one.owner.id, role=Role.VIEWER), [])
        key = api_key(user_id=one.owner.id, expires_at=utcnow() + HOUR)
        await storage.create_api_key(other.id, key, [])
        found = await storage.read_sign_in(key.id)
        assert found is not None
        assert (found.org_id, found.key, found.member_role) == (other.id, key, Role.VIEWER)
        assert found.key.secret_hash == key.secret_hash

    async def test_a_sign_in_has_no_member_when_the_key_is_the_orgs_or_its_user_no_member(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        for key in (api_key(), api_key(user_id=other.owner.id)):
            await storage.create_api_key(one.id, key, [])
            found = await storage.read_sign_in(key.id)
            assert found is not None
            assert found.member_role is None

    async def test_nobody_signs_in_when_the_key_is_unknown_revoked_or_out_of_date(
        self, storage: TenancyStorageInterface, one: Tenant
    ) -> None:
        for key in (api_key(revoked_at=utcnow()), api_key(expires_at=utcnow() - HOUR)):
            await storage.create_api_key(one.id, key, [])
            assert await storage.read_sign_in(key.id) is None
        assert await storage.read_sign_in(new_id()) is None

    async def test_nobody_signs_in_when_the_org_was_deleted(
        self, storage: TenancyStorageInterface, one: Tenant
    ) -> None:
        key = api_key()
        await storage.create_api_key(one.id, key, [])
        await storage.delete_org(one.id, ACTOR, [])
        assert await storage.read_sign_in(key.id) is None

    async def test_work_members_are_told_pair_by_pair(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        gone = await Tenant().stored(storage)
        await storage.delete_org(gone.id, ACTOR, [])
        member, stranger = (one.id, one.owner.id), (one.id, other.owner.id)
        platform, orphan, unknown = (other.id, EMPTY_UUID), (gone.id, gone.owner.id), (new_id(), one.owner.id)
        found = await storage.read_work_members([member, stranger, platform, orphan, unknown, member])
        assert found == {member: True, stranger: False, platform: False}
        assert await storage.read_work_members([]) == {}

    async def test_live_orgs_come_in_pages_without_the_deleted(self, storage: TenancyStorageInterface) -> None:
        tenants = sorted([await Tenant().stored(storage) for _ in range(4)], key=lambda tenant: tenant.id)
        await storage.delete_org(tenants[1].id, ACTOR, [])
        assert await storage.read_live_orgs(2) == (tenants[0].id, tenants[2].id)
        assert await storage.read_live_orgs(2, tenants[2].id) == (tenants[3].id,)
        asked = [tenants[3].id, tenants[1].id, new_id()]
        assert await storage.read_live_orgs(2, among=asked) == (tenants[3].id,)
        assert await storage.read_live_orgs(2, among=[]) == ()
