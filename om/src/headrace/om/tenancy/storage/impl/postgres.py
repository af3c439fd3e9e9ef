"""Tenancy's storage over PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final, override
from uuid import UUID

from sqlalchemy import ColumnElement, Interval, Update, delete, func, literal, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from headrace.om.base import EMPTY_UUID, Platform
from headrace.om.context import Role
from headrace.om.outbox.storage.impl.postgres import outbox_insert
from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.database import Database, DriverStatement, Purpose
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.storage.roles import TABLE_ROLES, DatabaseRole
from headrace.om.storage.tables import Table
from headrace.om.tenancy.exceptions import OrgNotFound, UserNotFound
from headrace.om.tenancy.storage import TenancyStorageInterface
from headrace.om.tenancy.storage.impl.inserts import NotInserted, ReferenceMissing, insert_entity
from headrace.om.tenancy.storage.tables import ApiKeyRow, MembershipRow, OrgRow, UserRow
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.membership import Membership
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.sign_in import SignIn
from headrace.om.tenancy.types.user import User

# On the claim's path, so in the driver's own terms: every pair meets two unique indexes.
_READ_WORK_MEMBERS: Final = DriverStatement(
    name="tenancy.read_work_members",
    role=DatabaseRole.CORE,
    sql="""
        SELECT pair.org_id, pair.user_id, m.user_id IS NOT NULL AS is_member
        FROM unnest($1::uuid[], $2::uuid[]) AS pair (org_id, user_id)
        JOIN core.orgs AS o ON o.id = pair.org_id AND o.deleted_at IS NULL
        LEFT JOIN core.memberships AS m ON m.org_id = pair.org_id AND m.user_id = pair.user_id
    """,
)

# A new user is admitted by the policy of users once it is a member, so the membership comes first.
_MEMBER_BEFORE_USER: Final = text("SET CONSTRAINTS core.memberships_user_id_fkey DEFERRED")

_OWN_TABLES: Final = frozenset({"orgs", "users", "memberships", "api_keys"})

# Taken from the map, so that a namespace that comes later holds an org's removal up as well.
_IS_HELD: Final = " OR ".join(
    f"EXISTS (SELECT FROM {role}.{table} AS held WHERE held.org_id = orgs.id)"
    for table, role in TABLE_ROLES.items()
    if role is DatabaseRole.CORE and table not in _OWN_TABLES
)


class TenancyStoragePostgresImpl(TenancyStorageInterface):
    """Orgs, users, memberships and API keys in the core schema."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def read_sign_in(self, key_id: UUID) -> SignIn | None:
        member = (MembershipRow.org_id == ApiKeyRow.org_id) & (MembershipRow.user_id == ApiKeyRow.user_id)
        statement = (
            select(ApiKeyRow, MembershipRow.role)
            .join(OrgRow, OrgRow.id == ApiKeyRow.org_id)
            .outerjoin(MembershipRow, member)
            .where(ApiKeyRow.id == key_id, ApiKeyRow.revoked_at.is_(None), OrgRow.deleted_at.is_(None))
            .where(or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > func.now()))
        )
        async with self._database.session_for(statement, org_id=EMPTY_UUID) as session:
            found = (await session.execute(statement)).one_or_none()
        if found is None:
            return None
        row, role = found
        return SignIn(row.org_id, _entity(ApiKey, row), _role(role))

    @override
    async def read_work_members(self, pairs: Sequence[tuple[UUID, UUID]]) -> Mapping[tuple[UUID, UUID], bool]:
        orgs, users = [org for org, _ in pairs], [user for _, user in pairs]
        statement = _READ_WORK_MEMBERS
        async with self._database.driver_for(statement, org_id=EMPTY_UUID, purpose=Purpose.CONTROL) as connection:
            found = await connection.fetch(statement.sql, orgs, users)
        return {(row["org_id"], row["user_id"]): row["is_member"] for row in found}

    @override
    async def read_live_orgs(
        self, limit: int, after: UUID | None = None, *, among: Collection[UUID] | None = None
    ) -> tuple[UUID, ...]:
        statement = select(OrgRow.id).where(OrgRow.deleted_at.is_(None)).order_by(OrgRow.id).limit(limit)
        if among is not None:
            statement = statement.where(OrgRow.id.in_(among))
        if after is not None:
            statement = statement.where(OrgRow.id > after)
        async with self._database.session_for(statement, org_id=EMPTY_UUID) as session:
            return tuple(await session.scalars(statement))

    @override
    async def read_deleted_orgs(self, older_than: timedelta, limit: int) -> tuple[UUID, ...]:
        statement = select(OrgRow.id).where(_is_deleted_for(older_than)).order_by(OrgRow.deleted_at).limit(limit)
        async with self._database.session_for(statement, org_id=EMPTY_UUID, purpose=Purpose.CONTROL) as session:
            return tuple(await session.scalars(statement))

    @override
    async def purge_org(self, org_id: UUID, older_than: timedelta) -> bool:
        # Locked first: a membership or a key that comes now waits, and then finds no org to belong to.
        found = select(OrgRow.id).where(OrgRow.id == org_id, _is_deleted_for(older_than), text(f"NOT ({_IS_HELD})"))
        statement = found.with_for_update(skip_locked=True)
        async with self._database.session_for(found, org_id=EMPTY_UUID, purpose=Purpose.CONTROL) as session:
            if await session.scalar(statement) is None:
                return False
            await session.execute(delete(ApiKeyRow).where(ApiKeyRow.org_id == org_id))
            left = delete(MembershipRow).where(MembershipRow.org_id == org_id).returning(MembershipRow.user_id)
            members = list(await session.scalars(left))
            is_member = select(MembershipRow.id).where(MembershipRow.user_id == UserRow.id).exists()
            await session.execute(delete(UserRow).where(UserRow.id.in_(members), ~is_member))
            await session.execute(delete(OrgRow).where(OrgRow.id == org_id))
        return True

    @override
    async def create_org(
        self, org_id: UUID, org: Org, owner: User, membership: Membership, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        try:
            async with self._database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
                await insert_entity(session, OrgRow, org)
                await _insert_member(session, org_id, owner, membership)
                await outbox_insert(session, org_id, rows)
        except NotInserted as stopped:
            return stopped.outcome
        return InsertOutcome.INSERTED

    @override
    async def read_org(self, org_id: UUID) -> Org | None:
        statement = select(OrgRow).where(OrgRow.id == org_id)
        async with self._database.session_for(statement, org_id=org_id) as session:
            row = await session.scalar(statement)
        return None if row is None else _entity(Org, row)

    @override
    async def delete_org(self, org_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]) -> bool:
        statement = (
            update(OrgRow)
            .where(OrgRow.id == org_id, OrgRow.deleted_at.is_(None))
            .values(deleted_at=func.now(), updated_at=func.now(), updated_by=actor_id)
            .returning(OrgRow.id)
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            if await session.scalar(statement) is None:
                return False
            await outbox_insert(session, org_id, rows)
        return True

    @override
    async def create_user(
        self, org_id: UUID, user: User, membership: Membership, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        try:
            async with self._database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
                await _insert_member(session, org_id, user, membership)
                await outbox_insert(session, org_id, rows)
        except NotInserted as stopped:
            return stopped.outcome
        except ReferenceMissing as missing:
            raise OrgNotFound(f"org {org_id} is not there") from missing
        return InsertOutcome.INSERTED

    @override
    async def read_user(self, org_id: UUID, user_id: UUID) -> User | None:
        statement = (
            select(UserRow)
            .join(MembershipRow, MembershipRow.user_id == UserRow.id)
            .where(MembershipRow.org_id == org_id, UserRow.id == user_id)
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            row = await session.scalar(statement)
        return None if row is None else _entity(User, row)

    @override
    async def create_membership(self, org_id: UUID, membership: Membership, rows: Sequence[OutboxRow]) -> InsertOutcome:
        try:
            async with self._database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
                await insert_entity(session, MembershipRow, membership, org_id=org_id)
                await outbox_insert(session, org_id, rows)
        except NotInserted as stopped:
            return stopped.outcome
        except ReferenceMissing as missing:
            raise UserNotFound(f"user {membership.user_id} is not there") from missing
        return InsertOutcome.INSERTED

    @override
    async def read_membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        statement = select(MembershipRow).where(MembershipRow.org_id == org_id, MembershipRow.user_id == user_id)
        async with self._database.session_for(statement, org_id=org_id) as session:
            row = await session.scalar(statement)
        return None if row is None else _entity(Membership, row)

    @override
    async def read_memberships(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[Membership, ...]:
        statement = select(MembershipRow).where(MembershipRow.org_id == org_id).order_by(MembershipRow.id).limit(limit)
        if after is not None:
            statement = statement.where(MembershipRow.id > after)
        async with self._database.session_for(statement, org_id=org_id) as session:
            return tuple(_entity(Membership, row) for row in await session.scalars(statement))

    @override
    async def delete_membership(self, org_id: UUID, user_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]) -> bool:
        statement = (
            delete(MembershipRow)
            .where(MembershipRow.org_id == org_id, MembershipRow.user_id == user_id)
            .returning(MembershipRow.id)
        )
        async with self._database.session_for(statement, org_id=org_id) as session:
            if await session.scalar(statement) is None:
                return False
            await session.execute(_revocation(org_id, actor_id).where(ApiKeyRow.user_id == user_id))
            await outbox_insert(session, org_id, rows)
        return True

    @override
    async def create_api_key(self, org_id: UUID, key: ApiKey, rows: Sequence[OutboxRow]) -> InsertOutcome:
        try:
            async with self._database.session_for(DatabaseRole.CORE, org_id=org_id) as session:
                await insert_entity(session, ApiKeyRow, key, org_id=org_id)
                await outbox_insert(session, org_id, rows)
        except NotInserted as stopped:
            return stopped.outcome
        except ReferenceMissing as missing:
            raise OrgNotFound(f"org {org_id} is not there") from missing
        return InsertOutcome.INSERTED

    @override
    async def read_api_keys(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[ApiKey, ...]:
        statement = select(ApiKeyRow).where(ApiKeyRow.org_id == org_id).order_by(ApiKeyRow.id).limit(limit)
        if after is not None:
            statement = statement.where(ApiKeyRow.id > after)
        async with self._database.session_for(statement, org_id=org_id) as session:
            return tuple(_entity(ApiKey, row) for row in await session.scalars(statement))

    @override
    async def revoke_api_key(
        self, org_id: UUID, key_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]
    ) -> ApiKey | None:
        found = select(ApiKeyRow).where(ApiKeyRow.org_id == org_id, ApiKeyRow.id == key_id)
        async with self._database.session_for(found, org_id=org_id) as session:
            revocation = _revocation(org_id, actor_id).where(ApiKeyRow.id == key_id).returning(ApiKeyRow.id)
            if await session.scalar(revocation) is not None:
                await outbox_insert(session, org_id, rows)
            row = await session.scalar(found)
        return None if row is None else _entity(ApiKey, row)


async def _insert_member(session: AsyncSession, org_id: UUID, user: User, membership: Membership) -> None:
    await session.execute(_MEMBER_BEFORE_USER)
    try:
        await insert_entity(session, MembershipRow, membership, org_id=org_id)
    except NotInserted as stopped:
        # A member with this user's id is a user with this id.
        raise NotInserted(InsertOutcome.ID_EXISTS) from stopped
    await insert_entity(session, UserRow, user)


def _revocation(org_id: UUID, actor_id: UUID) -> Update:
    return (
        update(ApiKeyRow)
        .where(ApiKeyRow.org_id == org_id, ApiKeyRow.revoked_at.is_(None))
        .values(revoked_at=func.now(), updated_at=func.now(), updated_by=actor_id)
    )


def _is_deleted_for(duration: timedelta) -> ColumnElement[bool]:
    return OrgRow.deleted_at < func.now() - literal(duration, Interval)


def _role(stored: str | None) -> Role | None:
    return None if stored is None else Role(stored)


def _entity[Entity: Platform](kind: type[Entity], row: Table) -> Entity:
    return kind.model_validate({name: getattr(row, name) for name in kind.model_fields})
