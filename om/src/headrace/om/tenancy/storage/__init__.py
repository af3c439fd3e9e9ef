"""Where tenancy's records are kept, by reader: for transitions, for the sweep, and for the manager."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from headrace.om.outbox.types.outbox_row import OutboxRow
from headrace.om.storage.outcomes import InsertOutcome
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.membership import Membership
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.sign_in import SignIn
from headrace.om.tenancy.types.user import User


class PrincipalsStorageInterface(ABC):
    """What the transitions look up before there is a context; each method reads across tenants in one statement."""

    @abstractmethod
    async def read_sign_in(self, key_id: UUID) -> SignIn | None:
        """Return the key with this id and the org it signs in to.

        Takes no tenant: whoever presents a token names only the key, and which tenant that is, is the answer.

        Returns:
            None where the key is unknown, revoked or past its expiry on the database's clock, or its org deleted.
        """
        ...

    @abstractmethod
    async def read_work_members(self, pairs: Sequence[tuple[UUID, UUID]]) -> Mapping[tuple[UUID, UUID], bool]:
        """Return, for pairs of an org and a user, whether the user is a member.

        Takes no tenant: a batch of claimed items comes from many tenants, and each pair names its own.

        Args:
            pairs: As many as one claim takes; repetitions count once.

        Returns:
            One entry for each pair whose org is there and not deleted; the others are left out.
        """
        ...

    @abstractmethod
    async def read_live_orgs(
        self, limit: int, after: UUID | None = None, *, among: Collection[UUID] | None = None
    ) -> tuple[UUID, ...]:
        """Return the ids of orgs that are not deleted, in their order, beginning behind `after`; of some only, or all.

        Takes no tenant: the sweep asks which tenants there are.
        """
        ...


class TenancySweepStorageInterface(ABC):
    """What is left of orgs that were put away; safe to run anywhere at once."""

    @abstractmethod
    async def read_deleted_orgs(self, older_than: timedelta, limit: int) -> tuple[UUID, ...]:
        """Return at most `limit` orgs that were deleted longer ago than that, the first deleted first.

        Takes no tenant: which tenants are to be removed is what the sweep asks.
        """
        ...

    @abstractmethod
    async def purge_org(self, org_id: UUID, older_than: timedelta) -> bool:
        """Remove an org that was deleted longer ago than that, with its memberships, keys and users, or nothing.

        A user goes with its last membership. That one is the last is seen only across tenants, so this runs under
        the system scope, and compares the tenant itself.

        Returns:
            False, with nothing removed, where there is no such org, or as long as another namespace of the core role
            holds a record of it; and where somebody else is removing it right now.

        Raises:
            Conflict: A user became another org's member at the same moment; nothing was removed.
        """
        ...


class TenancyStorageInterface(PrincipalsStorageInterface, TenancySweepStorageInterface):
    """The records of one org. A record of another tenant is neither found nor changed.

    Each write is atomic and lands the given outbox rows with it, or neither. Clocks are the database's.
    """

    @abstractmethod
    async def create_org(
        self, org_id: UUID, org: Org, owner: User, membership: Membership, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        """Insert an org, its first user and that user's membership, all or nothing.

        Args:
            org_id: The org's own id.
            org: The org.
            owner: Its first user.
            membership: The owner's.
            rows: What else the transaction lands.

        Returns:
            ID_EXISTS where one of the ids is taken, KEY_EXISTS where the login name is; nothing was written then.
        """
        ...

    @abstractmethod
    async def read_org(self, org_id: UUID) -> Org | None:
        """Return the org, a deleted one too; None where it never was."""
        ...

    @abstractmethod
    async def delete_org(self, org_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]) -> bool:
        """Mark the org as deleted; return False, and land nothing, where it is not there or was deleted before."""
        ...

    @abstractmethod
    async def create_user(
        self, org_id: UUID, user: User, membership: Membership, rows: Sequence[OutboxRow]
    ) -> InsertOutcome:
        """Insert a user and its membership in this org, all or nothing.

        Returns:
            ID_EXISTS where one of the ids is taken in any tenant, KEY_EXISTS where the login name is; nothing was
            written then.

        Raises:
            OrgNotFound: There is no such org; nothing was written.
        """
        ...

    @abstractmethod
    async def read_user(self, org_id: UUID, user_id: UUID) -> User | None:
        """Return a member of the org as a user; None where nobody with this id is a member."""
        ...

    @abstractmethod
    async def create_membership(self, org_id: UUID, membership: Membership, rows: Sequence[OutboxRow]) -> InsertOutcome:
        """Insert a membership of a user who may so far belong to other orgs only.

        Returns:
            ID_EXISTS where the id is taken in any tenant, KEY_EXISTS where the user is a member of this org already.

        Raises:
            UserNotFound: There is no such user anywhere, or no such org; nothing was written.
        """
        ...

    @abstractmethod
    async def read_membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        """Return the user's membership in the org; None where there is none."""
        ...

    @abstractmethod
    async def read_memberships(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[Membership, ...]:
        """Return at most `limit` memberships in the order of their ids, beginning behind `after`."""
        ...

    @abstractmethod
    async def delete_membership(self, org_id: UUID, user_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]) -> bool:
        """Delete a membership and revoke the user's live keys of this org.

        Returns:
            False, with nothing landed, where there is no such membership.
        """
        ...

    @abstractmethod
    async def create_api_key(self, org_id: UUID, key: ApiKey, rows: Sequence[OutboxRow]) -> InsertOutcome:
        """Insert a key; ID_EXISTS where the id is taken in any tenant, and nothing was written.

        Raises:
            OrgNotFound: There is no such org; nothing was written.
        """
        ...

    @abstractmethod
    async def read_api_keys(self, org_id: UUID, limit: int, after: UUID | None = None) -> tuple[ApiKey, ...]:
        """Return at most `limit` keys, revoked ones too, in the order of their ids, beginning behind `after`."""
        ...

    @abstractmethod
    async def revoke_api_key(
        self, org_id: UUID, key_id: UUID, actor_id: UUID, rows: Sequence[OutboxRow]
    ) -> ApiKey | None:
        """Revoke a key; return it as it stands afterwards, None where there is no such key.

        The rows land only where the key was live: one revoked before keeps its instant.
        """
        ...
