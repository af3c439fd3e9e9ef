"""The tenancy namespace's own errors, each with one of the shapes."""

from typing import ClassVar

from headrace.om.exceptions import Conflict, NotFound, PlatformException


class TenancyException(PlatformException):
    """The base of tenancy's errors."""


class OrgNotFound(TenancyException, NotFound):
    """The org is not there or was deleted."""

    code: ClassVar[str] = "org_not_found"


class OrgExists(TenancyException, Conflict):
    """An org, or a user as its owner, with this id is there already; nothing was written."""

    code: ClassVar[str] = "org_exists"


class UserNotFound(TenancyException, NotFound):
    """There is no such user, or none in this org."""

    code: ClassVar[str] = "user_not_found"


class UserExists(TenancyException, Conflict):
    """A user with this id is there already, in another org; nothing was written."""

    code: ClassVar[str] = "user_exists"


class LoginNameTaken(TenancyException, Conflict):
    """Another user has this login name; nothing was written."""

    code: ClassVar[str] = "login_name_taken"


class MembershipExists(TenancyException, Conflict):
    """The user is a member already, with another role; nothing was written."""

    code: ClassVar[str] = "membership_exists"


class ApiKeyNotFound(TenancyException, NotFound):
    """There is no such API key in this org."""

    code: ClassVar[str] = "api_key_not_found"
