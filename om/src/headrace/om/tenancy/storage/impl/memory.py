"""Tenancy's storage in this process's memory."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import override
from uuid import UUID

from headrace.om.base import Identifiable
from headrace.om.outbox.storage.impl.memory import OutboxStorageMemoryImpl
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.clock import Clock
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.exceptions import OrgNotFound, UserNotFound
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.membership import Membership
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.sign_in import SignIn
from headrace.om.tenancy.types.user import User


class TenancyStorageMemoryImpl(TenancyStorageInterface):
    """Four tables as dictionaries. No method awaits anything, so each is atomic within its event loop.

    Args:
        outbox: Where the rows of a write land.
        clock: Stands for the database's.
        holders: Each tells whether a namespace of the core role, besides the outbox, holds a record of an org.
    """

    def __init__(
        self, outbox: OutboxStorageMemoryImpl, clock: Clock, holders: Sequence[Callable[[UUID], bool]] = ()
    ) -> None:
        self._outbox = outbox
        self._clock = clock
        self._holders = (outbox.holds, *holders)
        self._orgs: dict[UUID, Org] = {}
        self._users: dict[UUID, User] = {}
        self._memberships: dict[UUID, tuple[UUID, Membership]] = {}
        self._api_keys: dict[UUID, tuple[UUID, ApiKey]] = {}

    @override
    async def read_sign_in(self, key_id: UUID) -> SignIn | None:
        org_id, key = self._api_keys.get(key_id, (None, None))
        if org_id is None or key is None or not self._is_live_org(org_id) or not self._is_live_key(key):
            return None
        member = self._member(org_id, key.user_id)
        return SignIn(org_id, key, None if member is None else member.role)

    @override
    async def read_work_members(self, pairs: Sequence[tuple[UUID, UUID]]) -> Mapping[tuple[UUID, UUID], bool]:
        return {pair: self._member(*pair) is not None for pair in pairs if self._is_live_org(pair[0])}

    @override
    async def read_live_orgs(
        self, limit: int, after: UUID | None = None, *, among: Collection[UUID] | None = None
    ) -> tuple[UUID, ...]:
        asked = (org for org in self._orgs.values() if among is None or org.id in among)
        live = (org for org in asked if org.deleted_at is None)
        return tuple(org.id for org in _page(live, limit, after))

    @override
    async def read_deleted_orgs(self, older_than: timedelta, limit: int) -> tuple[UUID, ...]:
        before = self._clock() - older_than
        deleted = ((org.deleted_at, org.id) for org in self._orgs.values() if org.deleted_at is not None)
        return tuple(org_id for at, org_id in sorted(deleted) if at < before)[:limit]

    @override
    async def purge_org(self, org_id: UUID, older_than: timedelta) -> bool:
        org = self._orgs.get(org_id)
        if org is None or org.deleted_at is None or org.deleted_at >= self._clock() - older_than:
            return False
        if any(holds(org_id) for holds in self._holders):
            return False
        members = {member.user_id for member in _of_org(org_id, self._memberships)}
        self._memberships = _without_org(org_id, self._memberships)
        self._api_keys = _without_org(org_id, self._api_keys)
        for user_id in members - {member.user_id for _, member in self._memberships.values()}:
            del self._users[user_id]
        del self._orgs[org_id]
        return True

    @override
    async def create_org(
        self, org_id: UUID, org: Org, owner: User, membership: Membership, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        outcome = InsertOutcome.ID_EXISTS if org.id in self._orgs else self._user_outcome(owner, membership)
        if outcome is InsertOutcome.INSERTED:
            self._orgs[org.id] = org
            self._insert_user(org_id, owner, membership)
            self._outbox.add(org_id, rows)
        return outcome

    @override
    async def read_org(self, org_id: UUID) -> Org | None:
        return self._orgs.get(org_id)

    @override
    async def delete_org(self, org_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]) -> bool:
        if not self._is_live_org(org_id):
            return False
        now = self._clock()
        org = self._orgs[org_id]
        self._orgs[org_id] = org.with_changes(deleted_at=now, updated_at=now, updated_by=actor_id)
        self._outbox.add(org_id, rows)
        return True

    @override
    async def create_user(
        self, org_id: UUID, user: User, membership: Membership, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        outcome = self._user_outcome(user, membership)
        if outcome is InsertOutcome.INSERTED:
            self._refuse_unknown_org(org_id)
            self._insert_user(org_id, user, membership)
            self._outbox.add(org_id, rows)
        return outcome

    @override
    async def read_user(self, org_id: UUID, user_id: UUID) -> User | None:
        return None if self._member(org_id, user_id) is None else self._users[user_id]

    @override
    async def create_membership(self, org_id: UUID, membership: Membership, rows: Sequence[OutboxRow]) -> InsertOutcome:
        if membership.id in self._memberships:
            return InsertOutcome.ID_EXISTS
        if self._member(org_id, membership.user_id) is not None:
            return InsertOutcome.KEY_EXISTS
        if membership.user_id not in self._users or org_id not in self._orgs:
            raise UserNotFound(f"user {membership.user_id} is not there")
        self._memberships[membership.id] = (org_id, membership)
        self._outbox.add(org_id, rows)
        return InsertOutcome.INSERTED

    @override
    async def read_membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        return self._member(org_id, user_id)

    @override
    async def read_memberships(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[Membership, ...]:
        return _page(_of_org(org_id, self._memberships), limit, after)

    @override
    async def delete_membership(self, org_id: UUID, user_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]) -> bool:
        member = self._member(org_id, user_id)
        if member is None:
            return False
        del self._memberships[member.id]
        for key in list(_of_org(org_id, self._api_keys)):
            if key.user_id == user_id:
                self._revoke(org_id, key, actor_id)
        self._outbox.add(org_id, rows)
        return True

    @override
    async def create_api_key(self, org_id: UUID, key: ApiKey, rows: Sequence[OutboxRow]) -> InsertOutcome:
        if key.id in self._api_keys:
            return InsertOutcome.ID_EXISTS
        self._refuse_unknown_org(org_id)
        self._api_keys[key.id] = (org_id, key)
        self._outbox.add(org_id, rows)
        return InsertOutcome.INSERTED

    @override
    async def read_api_keys(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[ApiKey, ...]:
        return _page(_of_org(org_id, self._api_keys), limit, after)

    @override
    async def revoke_api_key(
        self, org_id: UUID, key_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]
    ) -> ApiKey | None:
        owner_id, key = self._api_keys.get(key_id, (None, None))
        if key is None or owner_id != org_id:
            return None
        if self._revoke(org_id, key, actor_id):
            self._outbox.add(org_id, rows)
        return self._api_keys[key_id][1]

    def _is_live_org(self, org_id: UUID) -> bool:
        org = self._orgs.get(org_id)
        return org is not None and org.deleted_at is None

    def _is_live_key(self, key: ApiKey) -> bool:
        return key.revoked_at is None and (key.expires_at is None or key.expires_at > self._clock())

    def _member(self, org_id: UUID, user_id: UUID) -> Membership | None:
        members = _of_org(org_id, self._memberships)
        return next((member for member in members if member.user_id == user_id), None)

    def _user_outcome(self, user: User, membership: Membership) -> InsertOutcome:
        if user.id in self._users or membership.id in self._memberships:
            return InsertOutcome.ID_EXISTS
        if any(other.login_name == user.login_name for other in self._users.values()):
            return InsertOutcome.KEY_EXISTS
        return InsertOutcome.INSERTED

    def _insert_user(self, org_id: UUID, user: User, membership: Membership) -> None:
        self._users[user.id] = user
        self._memberships[membership.id] = (org_id, membership)

    def _refuse_unknown_org(self, org_id: UUID) -> None:
        if org_id not in self._orgs:
            raise OrgNotFound(f"org {org_id} is not there")

    def _revoke(self, org_id: UUID, key: ApiKey, actor_id: UUID) -> bool:
        if key.revoked_at is not None:
            return False
        now = self._clock()
        self._api_keys[key.id] = (org_id, key.with_changes(revoked_at=now, updated_at=now, updated_by=actor_id))
        return True


def _of_org[Entity](org_id: UUID, table: Mapping[UUID, tuple[UUID, Entity]]) -> Iterable[Entity]:
    return (entity for owner_id, entity in table.values() if owner_id == org_id)


def _without_org[Entity](org_id: UUID, table: Mapping[UUID, tuple[UUID, Entity]]) -> dict[UUID, tuple[UUID, Entity]]:
    return {key: pair for key, pair in table.items() if pair[0] != org_id}


def _page[Entity: Identifiable](entities: Iterable[Entity], limit: int, after: UUID | None) -> tuple[Entity, ...]:
    behind = (entity for entity in entities if after is None or entity.id > after)
    return tuple(sorted(behind, key=lambda entity: entity.id)[:limit])
