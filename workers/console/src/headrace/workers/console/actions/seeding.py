"""The first org of an installation: an org, its owner and an API key, made once and found again."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from pydantic import SecretStr

from headrace.om.context import OpContext, RequestContext, Role
from headrace.om.exceptions import NotAuthenticated
from headrace.om.tenancy import TenancyManagerInterface
from headrace.om.tenancy.exceptions import LoginNameTaken, OrgExists, OrgNotFound
from headrace.om.tenancy.types.org import Org
from headrace.om.tenancy.types.user import User

SEEDS: Final = UUID("0e7a1c5e-5b0c-5f43-9a37-7f4c9f1f2b6d")
"""The namespace of seeded ids: the same name gives the same org on every installation."""

KEY_NAME: Final = "seeded"


@dataclass(frozen=True, slots=True)
class SeedPlan:
    """What to seed.

    Attributes:
        org_name: 1-100 characters; decides the org's id.
        login_name: The owner's; unique on the whole platform.
    """

    org_name: str
    login_name: str

    @property
    def org_id(self) -> UUID:
        """The org's id."""
        return uuid5(SEEDS, f"org:{self.org_name}")


@dataclass(frozen=True, slots=True)
class Seeded:
    """What stands after seeding.

    Attributes:
        org_id: The org.
        is_new_org: Whether this call made it.
        token: What signs in to the org: the given token where it does that already, else a new key's.
        is_new_key: Whether this call made the key.
    """

    org_id: UUID
    is_new_org: bool
    token: SecretStr
    is_new_key: bool


async def seed(
    tenancy: TenancyManagerInterface, rctx: RequestContext, plan: SeedPlan, token: SecretStr | None
) -> Seeded:
    """Make the org, its owner and an API key, each where it is missing; safe to call again.

    Args:
        tenancy: Where.
        rctx: The request.
        plan: What.
        token: What signed in so far; None makes a new key.

    Raises:
        OrgNotFound: The org of this name was deleted.
        LoginNameTaken: The owner's login name is another user's; nothing was written.
        ValidationFailed: A name cannot be stored; nothing was written.
    """
    owner = User(id=uuid5(SEEDS, f"owner:{plan.org_name}"), name=plan.login_name, login_name=plan.login_name)
    try:
        ctx, is_new = await tenancy.create_org(rctx, Org(id=plan.org_id, name=plan.org_name), owner), True
    except OrgExists:
        ctx, is_new = await _service_context(tenancy, rctx, plan.org_id), False
    except LoginNameTaken as error:
        raise LoginNameTaken(f"{error}: owner must be another login name, by --owner") from error
    if token is not None and await _signs_in(tenancy, rctx, token, plan.org_id):
        return Seeded(plan.org_id, is_new, token, is_new_key=False)
    _, fresh = await tenancy.issue_api_key(ctx, KEY_NAME, Role.OWNER)
    return Seeded(plan.org_id, is_new, fresh, is_new_key=True)


async def _service_context(tenancy: TenancyManagerInterface, rctx: RequestContext, org_id: UUID) -> OpContext:
    for ctx in await tenancy.service_contexts(rctx):
        if ctx.org_id == org_id:
            return ctx
    raise OrgNotFound(f"org {org_id} was deleted; seed one of another name")


async def _signs_in(tenancy: TenancyManagerInterface, rctx: RequestContext, token: SecretStr, org_id: UUID) -> bool:
    try:
        return (await tenancy.authenticate(rctx, token)).org_id == org_id
    except NotAuthenticated:
        return False
