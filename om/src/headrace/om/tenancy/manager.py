"""What tenancy promises, by reader: who needs a context, and who administers an org."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from pydantic import AwareDatetime, SecretStr

from headrace.om.context import OpContext, RequestContext, Role
from headrace.om.tenancy.types.api_key import ApiKey
from headrace.om.tenancy.types.membership import Membership
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User
from headrace.om.tenancy.types.work_origin import WorkOrigin


class ContextTransitionsInterface(ABC):
    """The transitions from a request to an operation: nothing else builds an `OpContext`.

    All of them are operations without a principal, since they are what establishes one.
    """

    @abstractmethod
    async def authenticate(self, rctx: RequestContext, token: SecretStr) -> OpContext:
        """Sign in by API key; return the context of the key's user in the key's org.

        The context may what the key's role and the user's own role in the org both may.

        Raises:
            NotAuthenticated: The token is malformed, unknown, revoked or out of date, its member has left or
                its org was deleted; the sentence does not say which.
            Unavailable: The database did not answer; nothing is known about the token.
        """
        ...

    @abstractmethod
    async def work_contexts(self, rctx: RequestContext, claims: Sequence[WorkOrigin]) -> tuple[OpContext | None, ...]:
        """Return the context that each claimed item runs under, in the order given.

        The authority is the service role's. Who enqueued the item is named as its user while a member of the
        org, and the platform (`EMPTY_UUID`) otherwise. Each context carries the item's request as its cause;
        its own request and trace are the claim's, or the item's trace where the claim has none.

        One statement at most, and none for orgs and users seen within the last few seconds (the
        implementation says how many): what happened to a member or an org meanwhile shows after that.

        Returns:
            None in the place of an item whose org was deleted or never was.

        Raises:
            Unavailable: The database did not answer.
        """
        ...

    @abstractmethod
    async def service_contexts(
        self, rctx: RequestContext, among: Collection[UUID] | None = None
    ) -> tuple[OpContext, ...]:
        """Return one context for each org that is not deleted: the platform's own, with the service role.

        An org without members is among them. Ordered by org id; empty where there is no org. Orgs made or
        deleted during the call may be in or out.

        Args:
            rctx: The pass.
            among: Only of these orgs; None is of every one.

        Raises:
            Unavailable: The database did not answer.
        """
        ...

    @abstractmethod
    async def deleted_contexts(self, rctx: RequestContext, older_than: timedelta, limit: int) -> tuple[OpContext, ...]:
        """Return one service context for each org that was deleted longer ago than that, the first deleted first.

        For the sweep, which removes what is left of them.

        Args:
            rctx: The sweep's.
            older_than: Since the deletion, on the database's clock; 0 to 36,500 days.
            limit: 1 to 1000.

        Raises:
            ValidationFailed: The limit or the age is out of range.
            Unavailable: The database did not answer.
        """
        ...


class TenancyManagerInterface(ContextTransitionsInterface):
    """Administers one org: its users, memberships and API keys.

    Every write lands its `entity.changed` outbox row in the same transaction. Every method raises
    `NotAuthorized` before it does anything when the context lacks the permission that its text names.
    """

    @abstractmethod
    async def create_org(self, rctx: RequestContext, org: Org, owner: User) -> OpContext:
        """Make an org with its first user as the owner, all or nothing; return the owner's context.

        An operation without a principal: there is nobody yet who could ask. For whoever sets a platform up,
        never for a network surface.

        Raises:
            OrgExists: The org's or the owner's id is taken; nothing was written.
            LoginNameTaken: Another user has the login name; nothing was written.
            ValidationFailed: A name holds text that cannot be stored; nothing was written.
        """
        ...

    @abstractmethod
    async def get_org(self, ctx: OpContext) -> Org:
        """Return the context's org. Permission: TENANCY_READ.

        Raises:
            OrgNotFound: It was deleted since the context was made.
        """
        ...

    @abstractmethod
    async def delete_org(self, ctx: OpContext) -> None:
        """Put the org away: nobody signs in any more and no work runs; its records stay. Permission: TENANCY_ADMIN.

        Contexts made before stay usable for as long as they are held.

        Raises:
            OrgNotFound: It was deleted already.
        """
        ...

    @abstractmethod
    async def purge_org(self, ctx: OpContext, older_than: timedelta) -> bool:
        """Remove an org that was deleted longer ago than that (0 to 36,500 days), for good. Permission: TENANCY_SWEEP.

        With it go its memberships, its API keys and the users who were members of nothing else, all or nothing.
        What the audit trail and the event feed say of it stays. Safe to call again.

        Returns:
            False, with nothing removed, where the org is live, was deleted later than that or is gone, and as long
            as an endpoint, a message or an outbox row of it is left: those go first.
        """
        ...

    @abstractmethod
    async def create_user(self, ctx: OpContext, user: User, role: Role) -> User:
        """Make a user and a member of the org in one; return the user as stored. Permission: TENANCY_ADMIN.

        Safe to call again: a user of this org with the same id is read back untouched, its role too.

        Raises:
            UserExists: The id is a user's of another org; nothing was written.
            LoginNameTaken: Another user has the login name; nothing was written.
            ValidationFailed: The role is SERVICE, or the name cannot be stored; nothing was written.
        """
        ...

    @abstractmethod
    async def get_user(self, ctx: OpContext, user_id: UUID) -> User:
        """Return a member of the org as a user. Permission: TENANCY_READ.

        Raises:
            UserNotFound: Nobody with this id is a member.
        """
        ...

    @abstractmethod
    async def add_member(self, ctx: OpContext, user_id: UUID, role: Role) -> Membership:
        """Make a user of the platform a member; return the membership. Permission: TENANCY_ADMIN.

        Safe to call again with the same role.

        Raises:
            UserNotFound: The platform has no such user.
            MembershipExists: The user is a member with another role; remove the member first.
            ValidationFailed: The role is SERVICE.
        """
        ...

    @abstractmethod
    async def remove_member(self, ctx: OpContext, user_id: UUID) -> None:
        """End a membership and revoke the user's API keys of this org, in one. Permission: TENANCY_ADMIN.

        The last member may leave too: the org's work is done and swept all the same.

        Raises:
            UserNotFound: Nobody with this id is a member; nothing was written.
        """
        ...

    @abstractmethod
    async def get_members(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[Membership, ...]:
        """Return memberships in the order of their ids. Permission: TENANCY_READ.

        Args:
            ctx: Whose org.
            limit: 1 to 1000.
            after: The id of the membership after which to go on; None starts at the first.

        Raises:
            ValidationFailed: The limit is out of range.
        """
        ...

    @abstractmethod
    async def issue_api_key(
        self, ctx: OpContext, name: str, role: Role, expires_at: AwareDatetime | None = None
    ) -> tuple[ApiKey, SecretStr]:
        """Make an API key for the context's user; return it with its token. Permission: TENANCY_ADMIN.

        The token is shown this once: only its hash is stored. Not safe to call again: each call makes a key.

        Args:
            ctx: Whose org; its user is the one the key acts for (the platform's context makes a key of the org itself).
            name: What people call the key; 1-100 characters.
            role: The most it may do.
            expires_at: When it ends; None is never.

        Raises:
            ValidationFailed: The role is SERVICE, or the name or the instant does not fit; nothing was written.
        """
        ...

    @abstractmethod
    async def revoke_api_key(self, ctx: OpContext, key_id: UUID) -> ApiKey:
        """End a key for good; return it as it stands. Permission: TENANCY_ADMIN.

        Safe to call again: the first revocation's instant stays.

        Raises:
            ApiKeyNotFound: There is no such key in this org.
        """
        ...

    @abstractmethod
    async def get_api_keys(self, ctx: OpContext, limit: int, after: UUID | None = None) -> tuple[ApiKey, ...]:
        """Return the org's keys, revoked ones too, in the order of their ids. Permission: TENANCY_READ.

        Args:
            ctx: Whose org.
            limit: 1 to 1000.
            after: The id of the key after which to go on; None starts at the first.

        Raises:
            ValidationFailed: The limit is out of range.
        """
        ...
