"""What a process makes sure of at boot: that policies hold for its own logins, and that the schemas fit."""

from typing import ClassVar
from uuid import UUID

from sqlalchemy import text

from headrace.om.base import EMPTY_UUID
from headrace.om.exceptions import PreconditionFailed
from headrace.om.storage.database import Database
from headrace.om.storage.revisions import refuse_newer_schema
from headrace.om.storage.roles import LOGIN_NAMES, DatabaseRole, Login

# A superuser is a member of every role, so the reasons are asked for in this order. Whether a role exists is asked
# first, because asking for membership in one that does not is an error.
_REASON = text("""
    SELECT CASE
        WHEN login.rolsuper THEN 'is a superuser'
        WHEN login.rolbypassrls THEN 'bypasses row-level security'
        WHEN EXISTS (
            SELECT 1 FROM pg_class
            WHERE relnamespace = to_regnamespace(:schema) AND pg_has_role(current_user, relowner, 'MEMBER')
        ) THEN 'owns tables of schema ' || :schema
        WHEN EXISTS (
            SELECT 1 FROM pg_roles
            WHERE rolname = :forbidden AND pg_has_role(current_user, oid, 'MEMBER')
        ) THEN 'is a member of ' || :forbidden
    END AS reason, login.rolname
    FROM pg_roles AS login WHERE login.rolname = current_user
""")

_SCOPES: dict[Login, UUID | None] = {Login.RUNTIME: None, Login.SYSTEM: EMPTY_UUID}
_FORBIDDEN = {Login.RUNTIME: LOGIN_NAMES[Login.SYSTEM], Login.SYSTEM: LOGIN_NAMES[Login.RUNTIME]}


class LoginUnfit(PreconditionFailed):
    """A login is one that policies do not hold for: with it, tenants would see each other."""

    code: ClassVar[str] = "login_unfit"


async def refuse_unfit_database(database: Database) -> None:
    """Return when the logins are held by the policies and every schema is at this code's revision.

    Raises:
        LoginUnfit: As in `refuse_unfit_logins`.
        SchemaMismatch: As in `headrace.om.storage.revisions.refuse_newer_schema`.
        Unavailable: The database cannot be reached, so nothing is known.
    """
    await refuse_unfit_logins(database)
    await refuse_newer_schema(database)


async def refuse_unfit_logins(database: Database) -> None:
    """Return when the runtime and the system login are what the second fence takes them for, in every role.

    Neither may be superuser, bypass row-level security or own a table, and neither may be a member of the other.

    Raises:
        LoginUnfit: One is not; the sentence names the setting and the reason.
        Unavailable: The database cannot be reached, so nothing is known.
    """
    for role in DatabaseRole:
        for login, scope in _SCOPES.items():
            parameters = {"schema": str(role), "forbidden": _FORBIDDEN[login]}
            async with database.session_for(role, org_id=scope) as session:
                reason, name = (await session.execute(_REASON, parameters)).one()
            if reason is not None:
                raise LoginUnfit(f"database_{login}_user: expected a login that policies hold for, {name} {reason}")
