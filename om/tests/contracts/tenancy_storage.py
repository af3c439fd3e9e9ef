"""What every storage of tenancy does."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest

from headrace.om.base import new_id
from headrace.om.context import Role
from headrace.om.outbox.storage import OutboxStorageInterface
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.exceptions import OrgNotFound, UserNotFound
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.membership import Membership
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User

ACTOR = UUID("0199a000-0000-7000-8000-0000000000aa")
HOUR = timedelta(hours=1)
_names = iter(range(1_000_000))


def org(**changes: object) -> Org:
    return Org.model_validate({"name": "Mühle & Söhne"} | changes)


def user(**changes: object) -> User:
    return User.model_validate({"name": "Ada", "login_name": f"ada-{next(_names)}"} | changes)


def api_key(**changes: object) -> ApiKey:
    return ApiKey.model_validate({"name": "ci", "role": Role.MEMBER, "secret_hash": b"h" * 32} | changes)


def outbox_row() -> OutboxRow:
    return OutboxRow(kind="entity.changed", actor_id=ACTOR, request_id=new_id())


@dataclass(frozen=True)
class Tenant:
    """An org with its owner."""

    org: Org = field(default_factory=org)
    owner: User = field(default_factory=user)

    @property
    def id(self) -> UUID:
        return self.org.id

    async def stored(self, storage: TenancyStorageInterface) -> "Tenant":
        membership = Membership(user_id=self.owner.id, role=Role.OWNER)
        outcome = await storage.create_org(self.id, self.org, self.owner, membership, [])
        assert outcome is InsertOutcome.INSERTED
        return self


async def landed(outbox: OutboxStorageInterface) -> dict[UUID, UUID]:
    """The ids of the rows that landed, with their tenants; each is seen once."""
    return {row.id: org_id for org_id, row in await outbox.take_pending(100, HOUR)}


class TenancyStorageCases:
    """Subclasses give the fixtures `storage`, an empty one, and `outbox`, where its rows land."""

    @pytest.fixture
    async def one(self, storage: TenancyStorageInterface) -> Tenant:
        return await Tenant().stored(storage)

    @pytest.fixture
    async def other(self, storage: TenancyStorageInterface) -> Tenant:
        return await Tenant().stored(storage)


class TenancyStorageContract(TenancyStorageCases):
    """Orgs, users and memberships."""

    async def test_an_org_comes_back_as_it_was_when_read(self, storage: TenancyStorageInterface, one: Tenant) -> None:
        assert await storage.read_org(one.id) == one.org
        assert await storage.read_org(new_id()) is None

    async def test_the_owner_is_a_member_when_the_org_was_created(
        self, storage: TenancyStorageInterface, one: Tenant
    ) -> None:
        (member,) = await storage.read_memberships(one.id, 10)
        assert (member.user_id, member.role) == (one.owner.id, Role.OWNER)
        assert await storage.read_user(one.id, one.owner.id) == one.owner

    async def test_nothing_is_written_when_the_org_exists(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        owner = user()
        membership = Membership(user_id=owner.id, role=Role.OWNER)
        again = one.org.with_changes(name="Another name")
        outcome = await storage.create_org(one.id, again, owner, membership, [outbox_row()])
        assert outcome is InsertOutcome.ID_EXISTS
        assert await storage.read_org(one.id) == one.org
        assert await storage.read_user(one.id, owner.id) is None
        assert await landed(outbox) == {}

    @pytest.mark.parametrize("taken", ["id", "login_name"])
    async def test_no_org_is_created_when_its_owner_exists(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, taken: str
    ) -> None:
        late, owner = org(), user(**{taken: getattr(one.owner, taken)})
        membership = Membership(user_id=owner.id, role=Role.OWNER)
        outcome = await storage.create_org(late.id, late, owner, membership, [outbox_row()])
        assert outcome is (InsertOutcome.ID_EXISTS if taken == "id" else InsertOutcome.KEY_EXISTS)
        assert await storage.read_org(late.id) is None
        assert await storage.read_memberships(late.id, 10) == ()
        assert await landed(outbox) == {}

    async def test_rows_land_with_their_tenant_when_the_write_does(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        rows = [outbox_row() for _ in range(7)]
        added, key = user(), api_key()
        late = Tenant()
        owner = Membership(user_id=late.owner.id, role=Role.OWNER)
        await storage.create_org(late.id, late.org, late.owner, owner, [rows[0]])
        membership = Membership(user_id=added.id, role=Role.VIEWER)
        await storage.create_user(one.id, added, membership, [rows[1]])
        moved = Membership(user_id=added.id, role=Role.VIEWER)
        await storage.create_membership(late.id, moved, [rows[2]])
        await storage.create_api_key(one.id, key, [rows[3]])
        await storage.revoke_api_key(one.id, key.id, ACTOR, [rows[4]])
        await storage.delete_membership(one.id, added.id, ACTOR, [rows[5]])
        await storage.delete_org(one.id, ACTOR, [rows[6]])
        tenants = [late.id, one.id, late.id, one.id, one.id, one.id, one.id]
        assert await landed(outbox) == {row.id: tenant for row, tenant in zip(rows, tenants, strict=True)}

    async def test_a_deleted_org_stays_readable_and_says_when(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        assert await storage.delete_org(one.id, ACTOR, [])
        gone = await storage.read_org(one.id)
        assert gone is not None
        assert gone.deleted_at is not None
        assert (gone.updated_by, gone.updated_at) == (ACTOR, gone.deleted_at)
        assert await storage.read_org(other.id) == other.org

    async def test_nothing_lands_when_the_org_was_deleted_before(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        await storage.delete_org(one.id, ACTOR, [])
        before = await storage.read_org(one.id)
        assert not await storage.delete_org(one.id, new_id(), [outbox_row()])
        assert not await storage.delete_org(new_id(), ACTOR, [outbox_row()])
        assert await storage.read_org(one.id) == before
        assert await landed(outbox) == {}

    async def test_a_user_comes_back_as_it_was_when_read(self, storage: TenancyStorageInterface, one: Tenant) -> None:
        added = user(created_by=ACTOR, updated_by=ACTOR)
        membership = Membership(user_id=added.id, role=Role.VIEWER, created_by=ACTOR)
        assert await storage.create_user(one.id, added, membership, []) is InsertOutcome.INSERTED
        assert await storage.read_user(one.id, added.id) == added
        assert await storage.read_membership(one.id, added.id) == membership

    async def test_nothing_is_written_when_the_user_is_a_member_already(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        membership = Membership(user_id=one.owner.id, role=Role.VIEWER)
        again = one.owner.with_changes(name="Another name")
        outcome = await storage.create_user(one.id, again, membership, [outbox_row()])
        assert outcome is InsertOutcome.ID_EXISTS
        assert await storage.read_user(one.id, one.owner.id) == one.owner
        assert await landed(outbox) == {}

    async def test_nothing_is_written_when_the_user_is_of_another_tenant(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        membership = Membership(user_id=other.owner.id, role=Role.OWNER)
        again = other.owner.with_changes(name="Another name", login_name="another")
        outcome = await storage.create_user(one.id, again, membership, [outbox_row()])
        assert outcome is InsertOutcome.ID_EXISTS
        assert await storage.read_user(other.id, other.owner.id) == other.owner
        assert await storage.read_user(one.id, other.owner.id) is None
        assert await landed(outbox) == {}

    async def test_nothing_is_written_when_the_login_name_is_taken_in_another_tenant(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        late = user(login_name=other.owner.login_name)
        membership = Membership(user_id=late.id, role=Role.MEMBER)
        outcome = await storage.create_user(one.id, late, membership, [outbox_row()])
        assert outcome is InsertOutcome.KEY_EXISTS
        assert await storage.read_user(one.id, late.id) is None
        assert len(await storage.read_memberships(one.id, 10)) == 1
        assert await landed(outbox) == {}

    async def test_one_user_is_made_when_two_race_for_a_login_name(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        rivals = [user(login_name="rival") for _ in range(4)]
        tenants = [one, other, one, other]
        outcomes = await asyncio.gather(
            *(
                storage.create_user(tenant.id, rival, Membership(user_id=rival.id, role=Role.MEMBER), [])
                for tenant, rival in zip(tenants, rivals, strict=True)
            )
        )
        assert sorted(outcomes) == [InsertOutcome.INSERTED] + [InsertOutcome.KEY_EXISTS] * 3

    async def test_no_user_is_made_when_the_org_is_not_there(self, storage: TenancyStorageInterface) -> None:
        added = user()
        membership = Membership(user_id=added.id, role=Role.MEMBER)
        with pytest.raises(OrgNotFound):
            await storage.create_user(new_id(), added, membership, [])
        tenant = await Tenant().stored(storage)
        assert await storage.create_user(tenant.id, added, membership, []) is InsertOutcome.INSERTED

    async def test_a_user_is_found_only_where_it_is_a_member(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        assert await storage.read_user(other.id, one.owner.id) is None
        assert await storage.read_membership(other.id, one.owner.id) is None

    async def test_a_user_of_another_tenant_is_found_once_it_is_a_member(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        membership = Membership(user_id=other.owner.id, role=Role.VIEWER)
        assert await storage.create_membership(one.id, membership, []) is InsertOutcome.INSERTED
        assert await storage.read_user(one.id, other.owner.id) == other.owner
        assert await storage.read_membership(one.id, other.owner.id) == membership

    async def test_the_first_membership_stays_when_the_user_is_added_again(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        before = await storage.read_memberships(one.id, 10)
        again = Membership(user_id=one.owner.id, role=Role.VIEWER)
        assert await storage.create_membership(one.id, again, [outbox_row()]) is InsertOutcome.KEY_EXISTS
        assert await storage.read_memberships(one.id, 10) == before
        assert await landed(outbox) == {}

    async def test_nothing_is_written_when_the_memberships_id_is_another_tenants(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        (theirs,) = await storage.read_memberships(other.id, 10)
        assert await storage.create_membership(one.id, theirs, [outbox_row()]) is InsertOutcome.ID_EXISTS
        assert await storage.read_membership(one.id, theirs.user_id) is None
        assert await storage.read_memberships(other.id, 10) == (theirs,)
        assert await landed(outbox) == {}

    async def test_nobody_becomes_a_member_when_the_user_is_not_there(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant
    ) -> None:
        with pytest.raises(UserNotFound):
            await storage.create_membership(one.id, Membership(user_id=new_id(), role=Role.MEMBER), [outbox_row()])
        assert len(await storage.read_memberships(one.id, 10)) == 1
        assert await landed(outbox) == {}

    async def test_members_come_in_pages_when_there_are_many(
        self, storage: TenancyStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        (owner,) = await storage.read_memberships(one.id, 10)
        members = [owner]
        for _ in range(3):
            added = user()
            members.append(Membership(user_id=added.id, role=Role.MEMBER))
            await storage.create_user(one.id, added, members[-1], [])
        members.sort(key=lambda member: member.id)
        first = await storage.read_memberships(one.id, 3)
        assert first == tuple(members[:3])
        assert await storage.read_memberships(one.id, 3, first[-1].id) == (members[3],)
        assert [member.user_id for member in await storage.read_memberships(other.id, 10)] == [other.owner.id]

    async def test_a_member_who_left_is_found_no_more_and_may_come_back(
        self, storage: TenancyStorageInterface, one: Tenant
    ) -> None:
        assert await storage.delete_membership(one.id, one.owner.id, ACTOR, [])
        assert await storage.read_user(one.id, one.owner.id) is None
        again = Membership(user_id=one.owner.id, role=Role.VIEWER)
        assert await storage.create_membership(one.id, again, []) is InsertOutcome.INSERTED
        assert await storage.read_user(one.id, one.owner.id) == one.owner

    async def test_nobody_leaves_when_the_member_is_another_tenants(
        self, storage: TenancyStorageInterface, outbox: OutboxStorageInterface, one: Tenant, other: Tenant
    ) -> None:
        key = api_key(user_id=other.owner.id)
        await storage.create_api_key(other.id, key, [])
        assert not await storage.delete_membership(one.id, other.owner.id, ACTOR, [outbox_row()])
        assert await storage.read_membership(other.id, other.owner.id) is not None
        assert await storage.read_api_keys(other.id, 10) == (key,)
        assert await landed(outbox) == {}
